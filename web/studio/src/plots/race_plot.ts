/** A race of methods: cost against iterations. A click on a curve shows the pose there. */
import { type Method, methods } from 'poise-ik';
import type { App } from '../app.js';
import { button, choice, download, element, swatch } from '../dom.js';
import { nameOfMethod } from '../panel.js';
import { drawPlot, type Places, type Series } from './plots.js';
import { poseAfter, race, raceTable, randomStart, type Runner } from './race.js';
import type { Session } from '../session.js';
import { counted, duration } from '../status.js';

const NEAR = 14; // pixels from a curve that a click may be off

type Start = 'rest' | 'here' | 'random';
const starts: { value: Start; text: string }[] = [
  { value: 'rest', text: 'from rest' },
  { value: 'here', text: 'from the present pose' },
  { value: 'random', text: 'from a random pose' },
];

export class RacePlot {
  runners: Runner[] = [];
  #refused: Method[] = [];
  #start: Start = 'rest';
  #places: Places | null = null;
  #picked: { method: Method; iteration: number } | null = null;

  constructor(
    readonly app: App,
    readonly changed: () => void,
  ) {}

  forget(): void {
    this.runners = [];
    this.#refused = [];
    this.#start = 'rest';
    this.#picked = null;
  }

  /** Once more, from the start that is chosen. */
  run(session: Session): void {
    ({ runners: this.runners, refused: this.#refused } = race(session));
    this.#picked = null;
  }

  #begin(session: Session, start: Start): void {
    this.#start = start;
    session.start = start === 'rest' ? null : start === 'here' ? Float64Array.from(session.q) : randomStart(session);
    this.run(session);
    this.changed();
  }

  draw(canvas: HTMLCanvasElement, legend: HTMLElement): void {
    const { colours, session } = this.app;
    const series: Series[] = this.runners.map((runner) => ({
      name: nameOfMethod(runner.method),
      colour: colours.series[methods.indexOf(runner.method)]!,
      values: runner.costs,
      bold: runner.method === (this.#picked?.method ?? 'auto'),
    }));
    const mark = this.#picked ? { cursor: this.#picked.iteration } : {};
    this.#places = drawPlot(canvas, series, { x: 'iteration', y: 'cost', log: true, ...mark }, colours);
    canvas.setAttribute('aria-label', 'Cost after each iteration, by method, on a logarithmic scale');
    const rows = this.runners.map((runner, i) =>
      element(
        'tr',
        { className: runner.method === this.#picked?.method ? 'chosen' : '' },
        element('td', {}, swatch(series[i]!.colour), button(`Show where ${series[i]!.name} ends`, () => this.#pick(runner, runner.costs.length - 1), series[i]!.name, { className: 'plain' })),
        element('td', {}, runner.outcome),
        element('td', {}, String(runner.iterations)),
        element('td', {}, duration(runner.milliseconds)),
      ),
    );
    const head = element('tr', {}, ...['method', 'outcome', 'iterations', 'time'].map((text) => element('th', {}, text)));
    const refused = this.#refused.map(nameOfMethod).join(', ');
    legend.replaceChildren(
      element(
        'div',
        { className: 'row' },
        choice('Start', starts, this.#start, (value) => session && this.#begin(session, value as Start)),
        button('Run the race again', () => session && this.#begin(session, this.#start), 'Again'),
        button('Save the race as CSV', () => download('race.csv', new TextEncoder().encode(raceTable(this.runners)), 'text/csv'), 'CSV'),
      ),
      element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)),
      refused && element('p', { className: 'hint' }, `Made for other goals, not in the race: ${refused}.`),
      session?.loops ? element('p', { className: 'hint' }, 'Auto holds the loops of the skeleton; the others leave them open.') : '',
    );
  }

  /** The nearest point of any curve, if it is near enough. */
  click(x: number, y: number): void {
    let best = { distance: NEAR, runner: null as Runner | null, iteration: 0 };
    for (const runner of this.runners) {
      runner.costs.forEach((cost, i) => {
        const distance = this.#places ? Math.hypot(this.#places.x(i) - x, this.#places.y(cost) - y) : Infinity;
        if (distance < best.distance) {
          best = { distance, runner, iteration: i };
        }
      });
    }
    if (best.runner) {
      this.#pick(best.runner, best.iteration);
    }
  }

  #pick(runner: Runner, iteration: number): void {
    const { session } = this.app;
    if (session) {
      this.#picked = { method: runner.method, iteration };
      this.app.preview(poseAfter(session, runner.method, iteration), `${nameOfMethod(runner.method)} after ${counted(iteration, 'iteration')}, cost ${runner.costs[iteration]!.toPrecision(3)}.`);
      this.changed();
    }
  }
}
