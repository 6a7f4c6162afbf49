/** The library's verdict in words for people at the page. Levels, rows and their order are the library's. */
import type { Finding, VerdictLevel } from 'poise-ik';
import { plain } from './plain_words.js';
import type { Judged } from './stage.js';
import type { Tone } from './status.js';
import { counted } from './status.js';

export const MOST = 4; // findings in a notice; the panel lists all

const headings: Record<Judged['what'], Record<VerdictLevel, string>> = {
  fit: { good: 'good fit', doubtful: 'doubtful fit', failed: 'wrong fit' },
  retargeting: { good: 'good motion', doubtful: 'doubtful motion', failed: 'wrong motion' },
  baking: { good: 'good motion', doubtful: 'doubtful motion', failed: 'wrong motion' },
  stance: { good: 'on the ground', doubtful: 'not on the ground', failed: 'not on the ground' },
};

const sentences: Record<Judged['what'], string> = { fit: 'The fit', retargeting: 'The motion there', baking: 'The motion with the goals', stance: 'The pose' };

export const toneOf: Record<VerdictLevel, Tone> = { good: 'good', doubtful: 'fair', failed: 'poor' };

/** A verdict in two words. */
export const headingOf = ({ what, verdict }: Judged): string => headings[what][verdict];

export const textOf = ({ text }: Finding): string => plain(text);

/** The frames that a finding is of; '' where it is of none in particular. */
export function framesOf({ first, last }: Finding): string {
  return last > first ? `frames ${first} to ${last}` : first > 0 ? `frame ${first}` : '';
}

/** What speaks against it, the worst first. */
const doubtsOf = ({ findings }: Judged): Finding[] => findings.filter(({ level }) => level !== 'good');

/** The worst of what speaks against it; '' where nothing does. */
export function reasonOf(judged: Judged): string {
  const [worst] = doubtsOf(judged);
  return worst ? textOf(worst) : '';
}

/** A notice of it: nothing where it is good. */
export function againstIt(judged: Judged): string[] {
  const doubts = doubtsOf(judged);
  const more = doubts.length > MOST ? [`- and ${counted(doubts.length - MOST, 'other finding')}, which the panel lists`] : [];
  const head = `${sentences[judged.what]} is ${judged.verdict === 'failed' ? 'wrong' : 'doubtful'}:`;
  return judged.verdict === 'good' ? [] : [head, ...doubts.slice(0, MOST).map((finding) => `- ${textOf(finding)}`), ...more];
}
