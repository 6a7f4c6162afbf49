/** Errors of markers over time, the worst first: of the frames, and the markers in them, that the verdict counts. Elsewhere the lines break. */
import type { App } from '../app.js';
import { element, swatch } from '../dom.js';
import { drawPlot, type Series } from './plots.js';
import type { Session } from '../session.js';
import type { Tracked } from '../stage.js';
import { brief } from '../status.js';
import type { Colours } from '../theme.js';

const LINES = 8; // that are drawn
const LEAST = 0.01; // millimetres that are told apart
const NOT_COUNTED = 'Frames in which the marker contradicts the others, or too few are seen to trust the pose: they are in no error, and the lines break there.';

export class MarkerPlot {
  #made: { of: object; colours: Colours; series: Series[] } | null = null;

  constructor(readonly app: App) {}

  forget(): void {
    this.#made = null;
  }

  draw(canvas: HTMLCanvasElement, legend: HTMLElement): void {
    const { session, colours } = this.app;
    if (!session?.tracked) {
      return;
    }
    if (this.#made?.of !== session.tracked || this.#made.colours !== colours) {
      this.#made = { of: session.tracked, colours, series: this.#list(session, session.tracked, legend) };
    }
    const y = session.stage.scale.metres > 0 ? 'error (mm)' : 'error';
    drawPlot(canvas, this.#made.series, { x: 'time (s)', y, step: session.frameTime, cursor: session.frame }, colours);
    canvas.setAttribute('aria-label', 'Error of the worst markers over time');
  }

  /** A table of all markers, and the lines of the first of them. */
  #list(session: Session, { errors, counted, byMarker }: Tracked, legend: HTMLElement): Series[] {
    const { colours } = this.app;
    const { placements, scale } = session.stage;
    const count = placements.length;
    const unit = scale.metres > 0 ? 1000 * scale.metres : 1;
    const list = placements.map(({ label }, i) => {
      const values = Float64Array.from({ length: errors.length / count }, (_, f) => (counted[f * count + i] ? unit * errors[f * count + i]! : NaN));
      const { mean, worst, seen, counted: counts } = byMarker[i]!;
      return { label, values, mean: unit * mean, worst: unit * worst, left: seen - counts };
    });
    list.sort((a, b) => b.mean - a.mean);
    const number = (value: number) => (value < LEAST ? `< ${LEAST}` : brief(value));
    const series = list.slice(0, LINES).map(({ label, values }, k) => ({ name: label, colour: colours.series[k]!, values }));
    const rows = list.map(({ label, mean, worst, left }, k) =>
      element('tr', {}, element('td', {}, k < series.length ? swatch(series[k]!.colour) : '', label), ...[number(mean), number(worst), left > 0 ? String(left) : ''].map((text) => element('td', {}, text))),
    );
    const titles = ['marker', scale.metres > 0 ? 'mean, mm' : 'mean', 'worst', 'not counted'];
    const head = element('tr', {}, ...titles.map((title) => element('th', title === 'not counted' ? { title: NOT_COUNTED } : {}, title)));
    const isAnyLeft = list.some(({ left }) => left > 0);
    legend.replaceChildren(element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)), ...(isAnyLeft ? [element('p', { className: 'hint' }, NOT_COUNTED)] : []));
    return series;
  }
}
