/** Values of joints over the time of a motion: those of the picked joint, or those that move most. */
import type { Clip, Model } from 'poise-ik';
import type { App } from '../app.js';
import { element, swatch } from '../dom.js';
import { drawPlot, type Series } from './plots.js';
import { coordinateNames } from '../saving.js';
import type { Colours } from '../theme.js';

const LINES = 8; // that are drawn
const DEGREES = 180 / Math.PI;
const MOST_POINTS = 2000; // of one line

export class CurvePlot {
  #made: { clip: Clip; joint: number; colours: Colours; series: Series[]; every: number } | null = null;

  constructor(readonly app: App) {}

  forget(): void {
    this.#made = null;
  }

  draw(canvas: HTMLCanvasElement, legend: HTMLElement): void {
    const { session, colours, selectedJoint: joint } = this.app;
    const clip = session?.motion;
    if (!session || !clip) {
      return;
    }
    if (this.#made?.clip !== clip || this.#made.joint !== joint || this.#made.colours !== colours) {
      const every = Math.max(1, Math.ceil(clip.frames / MOST_POINTS));
      this.#made = { clip, joint, colours, every, series: this.#list(session.model, clip, joint, every, legend) };
    }
    const { series, every } = this.#made;
    drawPlot(canvas, series, { x: 'time (s)', y: 'degrees, lengths', step: every * session.frameTime, cursor: Math.floor(session.frame / every) }, colours);
    canvas.setAttribute('aria-label', 'Joint values over time');
  }

  #list(model: Model, clip: Clip, joint: number, every: number, legend: HTMLElement): Series[] {
    const { colours } = this.app;
    const names = coordinateNames(model);
    const count = Math.ceil(clip.frames / every);
    const { q } = clip;
    const all = model.coordinates.map((coordinate, i) => {
      const unit = coordinate.unit === 'angle' ? DEGREES : 1;
      const values = Float64Array.from({ length: count }, (_, f) => unit * q[f * every * clip.nq + i]!);
      return { joint: coordinate.joint, name: names[i]!, values, range: values.reduce((a, x) => Math.max(a, x), -Infinity) - values.reduce((a, x) => Math.min(a, x), Infinity) };
    });
    const own = all.filter((line) => line.joint === joint);
    const shown = own.length > 0 ? own : all.filter((line) => model.joints[line.joint]!.nv <= 3).sort((a, b) => b.range - a.range).slice(0, LINES);
    const series = shown.map(({ name, values }, k) => ({ name, colour: colours.series[k % colours.series.length]!, values }));
    const rows = shown.map(({ name, range }, k) => element('tr', {}, element('td', {}, swatch(series[k]!.colour), name), element('td', {}, range.toFixed(1))));
    const head = element('tr', {}, element('th', {}, own.length > 0 ? 'of the picked joint' : 'that move most'), element('th', {}, 'range'));
    legend.replaceChildren(element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)));
    return series;
  }
}
