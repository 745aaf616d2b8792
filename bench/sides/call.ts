/** One request of the preparation: never measured. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly token: string;
  readonly body?: object;
};

/** Sends it and answers status and decoded body (`null` where it is empty). Throws on a status outside 200–299. */
export const call = async (
  port: number,
  { method, path, token, body }: Call,
): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
};
