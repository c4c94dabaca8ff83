// Text of transcripts, made safe for places that interpret text.
//
// The text is untrusted: somebody else may have written what an agent has read. `label` is for places that show plain text or icons, `page` for
// the markdown preview. Both break a syntax with a zero-width space, which changes no visible character, and needs no parser of markdown that
// would have to agree with that of the editor.

const ZERO_WIDTH = '\u200b';
/** Control characters, and those that reverse the direction of text. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** One line of at most `length` characters, without icons (`$(name)`), links and invisible characters. */
export function label(text: string, length = 160): string {
  const line = text.slice(0, length * 4).replace(INVISIBLE, ' ').replace(/ {2,}/g, ' ').trim();
  const characters = [...line];
  const short = characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : line;
  return short.replaceAll('$(', `$${ZERO_WIDTH}(`).replaceAll('](', `]${ZERO_WIDTH}(`);
}

/**
 * Markdown without HTML, images and links, but for links between pages (`sessions/….md`, relative and without a scheme). An address
 * (`https://…`) stays readable; nothing is loaded from it.
 */
export function page(markdown: string): string {
  return markdown
    .replace(/<(?=[a-z/!?])/gi, `<${ZERO_WIDTH}`)
    .replaceAll('![', `!${ZERO_WIDTH}[`)
    .replace(/\](?=\()(?!\((?:\.\.\/)?(?:sessions\/)?[\w-]+\.md\))/g, `]${ZERO_WIDTH}`)
    .replace(/\](?=:)/g, `]${ZERO_WIDTH}`);
}
