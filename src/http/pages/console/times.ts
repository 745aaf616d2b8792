/** An instant as a field for date and time takes it, in UTC; nothing where the text names none. */
export const fieldTime = (at: string | undefined): string | undefined => {
  const ms = Date.parse(at ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().replace(/(:00)?\.000Z$|Z$/, '');
};

/** What a field for date and time was sent with, which is meant in UTC, as an instant; other text as it is. */
export const sentTime = (text: string): string => {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text) ? Date.parse(`${text}Z`) : NaN;
  return Number.isNaN(ms) ? text : new Date(ms).toISOString();
};
