/** The drawer below the stage: a race of methods, errors of markers over time, where the Hessian is positive definite. */
import type { Method } from 'poise-ik';
import type { App } from './app.js';
import { button, element } from './dom.js';
import { cellOf, definitenessMap, kinds, names, SIDE } from './definiteness.js';
import { drawMap, drawPlot, type Series } from './plots.js';
import { nameOfMethod } from './panel.js';
import { pathOf, race, type Runner } from './race.js';
import type { Session } from './session.js';
import type { Colours } from './theme.js';

export type Tab = 'race' | 'markers' | 'map';

const MAP_PAUSE = 250; // milliseconds between two maps while a goal is dragged

export class Drawer {
  readonly root = element('section', { className: 'drawer', hidden: true, 'aria-label': 'Plots' });
  #tab: Tab | null = null;
  #tabs = element('div', { className: 'tabs', role: 'tablist' });
  #canvas = element('canvas', { role: 'img' });
  #legend = element('div', { className: 'legend' });
  #runners: Runner[] = [];
  #refused: Method[] = [];
  #drawn = 0;
  #errors: { of: object; colours: Colours; series: Series[] } | null = null;

  constructor(readonly app: App) {
    this.root.append(this.#tabs, element('div', { className: 'plot' }, this.#canvas, this.#legend));
    new ResizeObserver(() => this.#draw()).observe(this.#canvas);
  }

  /** Another skeleton: old plots mean nothing. */
  forget(): void {
    this.#runners = [];
    this.#refused = [];
    this.#errors = null;
    this.#tab = this.#has('map') ? 'map' : null;
  }

  #has(tab: Tab): boolean {
    const { session } = this.app;
    switch (tab) {
      case 'race':
        return this.#runners.length > 0;
      case 'markers':
        return !!session?.tracked;
      case 'map':
        return session?.model.nv === 2 && session.model.joints.every((joint) => joint.type === 'revolute' || joint.type === 'fixed');
    }
  }

  show(tab: Tab): void {
    this.#tab = tab;
    this.refresh();
  }

  race(): void {
    const { session } = this.app;
    if (session) {
      ({ runners: this.#runners, refused: this.#refused } = race(session));
      if (this.#runners.length === 0) {
        this.app.notify('Add a goal first: then the methods have something to race for.', true);
      }
      this.show('race');
    }
  }

  refresh(): void {
    const titles: [Tab, string][] = [
      ['race', 'Race'],
      ['markers', 'Marker errors'],
      ['map', 'Definiteness'],
    ];
    const there = titles.filter(([tab]) => this.#has(tab));
    if (!this.#tab || !this.#has(this.#tab)) {
      this.#tab = null;
    }
    this.root.hidden = there.length === 0;
    this.#tabs.replaceChildren(
      ...there.map(([tab, title]) =>
        button(title, () => this.show(tab), title, { role: 'tab', 'aria-selected': this.#tab === tab, className: this.#tab === tab ? 'chosen' : '' }),
      ),
      element('span', { className: 'space' }),
      this.#tab ? button('Fold the drawer', () => this.#fold(), '▾') : '',
    );
    this.root.classList.toggle('folded', !this.#tab);
    this.#draw();
  }

  #fold(): void {
    this.#tab = null;
    this.refresh();
  }

  /** The pose has changed. */
  follow(): void {
    const now = performance.now();
    if (this.#tab === 'markers' || (this.#tab === 'map' && now - this.#drawn > MAP_PAUSE)) {
      this.#draw();
    }
  }

  #draw(): void {
    this.#drawn = performance.now();
    if (this.root.hidden || !this.#tab) {
      return;
    }
    if (this.#tab === 'race') {
      this.#drawRace();
    } else if (this.#tab === 'markers') {
      this.#drawMarkers();
    } else {
      this.#drawMap();
    }
  }

  #drawRace(): void {
    this.#errors = null;
    const { colours } = this.app;
    const series: Series[] = this.#runners.map((runner, i) => ({
      name: nameOfMethod(runner.method),
      colour: colours.series[i % colours.series.length]!,
      values: runner.costs,
      bold: runner.method === 'auto',
    }));
    drawPlot(this.#canvas, series, { x: 'iteration', y: 'cost', log: true }, colours);
    this.#canvas.setAttribute('aria-label', 'Cost after each iteration, by method, on a logarithmic scale');
    const rows = this.#runners.map((runner, i) =>
      element(
        'tr',
        {},
        element('td', {}, swatch(series[i]!.colour), nameOfMethod(runner.method)),
        element('td', {}, runner.outcome),
        element('td', {}, String(runner.iterations)),
        element('td', {}, `${runner.milliseconds.toFixed(2)} ms`),
      ),
    );
    const head = element('tr', {}, ...['method', 'outcome', 'iterations', 'time'].map((text) => element('th', {}, text)));
    const refused = this.#refused.map(nameOfMethod).join(', ');
    this.#legend.replaceChildren(
      element('p', { className: 'hint' }, 'From the same start to the present goals.'),
      element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)),
      refused && element('p', { className: 'hint' }, `Made for other goals, not in the race: ${refused}.`),
    );
  }

  #drawMarkers(): void {
    const { session, colours } = this.app;
    if (!session?.tracked) {
      return;
    }
    if (this.#errors?.of !== session.tracked || this.#errors.colours !== colours) {
      this.#errors = { of: session.tracked, colours, series: this.#listMarkers(session, session.tracked.errors) };
    }
    const y = session.stage.scale.metres > 0 ? 'error (mm)' : 'error';
    drawPlot(this.#canvas, this.#errors.series, { x: 'time (s)', y, step: session.frameTime, cursor: session.frame }, colours);
    this.#canvas.setAttribute('aria-label', 'Error of the worst markers over time');
  }

  /** A table of all markers, the worst first, and the lines of the first of them. */
  #listMarkers(session: Session, errors: Float64Array): Series[] {
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
    const series = list.slice(0, colours.series.length).map(({ label, values }, k) => ({ name: label, colour: colours.series[k]!, values }));
    const rows = list.map(({ label, mean }, k) =>
      element('tr', {}, element('td', {}, k < series.length ? swatch(series[k]!.colour) : '', label), element('td', {}, mean.toPrecision(3))),
    );
    const head = element('tr', {}, element('th', {}, 'marker'), element('th', {}, scale.metres > 0 ? 'mean, mm' : 'mean'));
    this.#legend.replaceChildren(element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)));
    return series;
  }

  #drawMap(): void {
    this.#errors = null;
    const { session, colours } = this.app;
    if (!session) {
      return;
    }
    const palette = [colours.series[0]!, colours.series[1]!, colours.grid, colours.series[5]!, colours.series[4]!];
    const cells = definitenessMap(session);
    const path = pathOf(session).map(([a, b]): [number, number] => [cellOf(a), cellOf(b)]);
    const at: [number, number] = [cellOf(session.q[0]!), cellOf(session.q[1]!)];
    drawMap(this.#canvas, cells, SIDE, palette, at, path, { x: 'first angle (degrees)', y: 'second angle' }, colours);
    this.#canvas.setAttribute('aria-label', 'Definiteness of the Hessian over both joint angles');
    const present = new Set(cells);
    this.#legend.replaceChildren(
      element('p', { className: 'hint' }, 'The Hessian of the cost for the present target, over both angles. The line is the way of the chosen method from the straight arm; the dot is the arm now.'),
      ...kinds.filter((_, i) => present.has(i)).map((kind) => element('div', {}, swatch(palette[kinds.indexOf(kind)]!), names[kind])),
    );
  }
}

function swatch(colour: string): HTMLElement {
  const box = element('span', { className: 'swatch' });
  box.style.background = colour;
  return box;
}
