const ADDRESS = /\bhttps?:\/\/[^\s<>"\p{C}]+/giu;

/** What ends the sentence around an address, rather than the address. */
const AFTER = /[.,:;!?…'’”»\])}]+$/u;

/** A text whose web addresses are links: of http and https alone, because others may run scripts. */
export function Linked({ text }: { text: string }) {
  const parts = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = withoutEnding(found);
    parts.push(
      text.slice(end, index),
      <a key={index} href={address} dir="ltr" rel="noopener noreferrer">
        {address}
      </a>,
    );
    end = index + address.length;
  }
  return (
    <span translate={false}>
      {parts}
      {text.slice(end)}
    </span>
  );
}

/** Removes what follows an address, but for a bracket that was opened within it. */
function withoutEnding(found: string) {
  const bare = found.replace(AFTER, '');
  const isOpen = bare.split('(').length > bare.split(')').length;
  return isOpen && found[bare.length] === ')' ? `${bare})` : bare;
}
