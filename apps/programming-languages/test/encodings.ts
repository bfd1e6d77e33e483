type Fields = Record<string, string | number>;
type Body = [text: string, headers: Record<string, string>];

export const formType = { 'content-type': 'application/x-www-form-urlencoded' };

const asJson = (fields: Fields): Body => [JSON.stringify(fields), { 'content-type': 'application/json' }];

function asForm(fields: Fields): Body {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  return [form.toString(), formType];
}

/** The two ways to send fields, which mean the same. */
export const encodings: [name: string, encoded: (fields: Fields) => Body][] = [
  ['JSON', asJson],
  ['URL-encoded', asForm],
];
