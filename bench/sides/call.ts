/** One request of the preparation: never measured. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
};

/** Sends it and answers status and decoded body (`null` where it is empty). Throws on a status outside 200–299. */
export const call = async (
  port: number,
  { method, path, headers, body }: Call,
): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
};
