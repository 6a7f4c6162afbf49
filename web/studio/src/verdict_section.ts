/** The whole verdict in the panel: every finding of the library with its level, its words and its frames, and what was measured. */
import type { Finding, VerdictLevel } from 'poise-ik';
import type { App } from './app.js';
import { button, element, section } from './dom.js';
import type { Session } from './session.js';
import type { Judged } from './stage.js';
import { framesOf, headingOf, textOf, toneOf } from './verdict_words.js';

const levels: Record<VerdictLevel, string> = { good: 'to know', doubtful: 'doubtful', failed: 'wrong' };

function row(app: App, session: Session, finding: Finding): HTMLElement {
  const frames = framesOf(finding);
  const goThere = () => {
    app.play(false);
    app.setTime(finding.first * session.frameTime);
  };
  return element(
    'li',
    { className: finding.level, 'data-kind': finding.kind },
    element('span', { className: 'level' }, levels[finding.level]),
    element('span', {}, textOf(finding)),
    frames !== '' && button(`Show ${frames}`, goThere, frames, { className: 'plain' }),
  );
}

export function verdictSection(app: App, session: Session, judged: Judged, open: boolean): HTMLElement {
  const rows = judged.findings.map((finding) => row(app, session, finding));
  return section(
    'Verdict',
    open,
    element('p', { className: `verdict ${toneOf[judged.verdict]}` }, headingOf(judged)),
    rows.length > 0 && element('ul', { className: 'findings', 'aria-label': 'Findings' }, ...rows),
    ...judged.figures.map((line) => element('p', { className: 'hint' }, line)),
  );
}
