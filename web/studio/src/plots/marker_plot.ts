/** Errors of markers over time, the worst first. */
import type { App } from '../app.js';
import { element, swatch } from '../dom.js';
import { drawPlot, type Series } from './plots.js';
import type { Session } from '../session.js';
import { brief } from '../status.js';
import type { Colours } from '../theme.js';

const LINES = 8; // that are drawn
const LEAST = 0.01; // millimetres that are told apart

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
      this.#made = { of: session.tracked, colours, series: this.#list(session, session.tracked.errors, legend) };
    }
    const y = session.stage.scale.metres > 0 ? 'error (mm)' : 'error';
    drawPlot(canvas, this.#made.series, { x: 'time (s)', y, step: session.frameTime, cursor: session.frame }, colours);
    canvas.setAttribute('aria-label', 'Error of the worst markers over time');
  }

  /** A table of all markers, and the lines of the first of them. */
  #list(session: Session, errors: Float64Array, legend: HTMLElement): Series[] {
    const { colours } = this.app;
    const { placements, scale } = session.stage;
    const count = placements.length;
    const unit = scale.metres > 0 ? 1000 * scale.metres : 1;
    const list = placements.map(({ label }, i) => {
      const values = Float64Array.from({ length: errors.length / count }, (_, f) => unit * errors[f * count + i]!);
      const seen = values.filter(Number.isFinite);
      return { label, values, mean: seen.reduce((a, b) => a + b, 0) / Math.max(1, seen.length) };
    });
    list.sort((a, b) => b.mean - a.mean);
    const series = list.slice(0, LINES).map(({ label, values }, k) => ({ name: label, colour: colours.series[k]!, values }));
    const rows = list.map(({ label, mean }, k) =>
      element('tr', {}, element('td', {}, k < series.length ? swatch(series[k]!.colour) : '', label), element('td', {}, mean < LEAST ? `< ${LEAST}` : brief(mean))),
    );
    const head = element('tr', {}, element('th', {}, 'marker'), element('th', {}, scale.metres > 0 ? 'mean, mm' : 'mean'));
    legend.replaceChildren(element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)));
    return series;
  }
}
