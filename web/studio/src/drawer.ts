/** The drawer below the stage: a race of methods, errors of markers over time, the map of two links. */
import type { App } from './app.js';
import { button, element } from './dom.js';
import { CurvePlot } from './plots/curve_plot.js';
import { hasLandscape } from './plots/definiteness.js';
import { MapPlot } from './plots/map_plot.js';
import { MarkerPlot } from './plots/marker_plot.js';
import { RacePlot } from './plots/race_plot.js';

export type Tab = 'race' | 'markers' | 'curves' | 'map';

const HINT = 24; // pixels that the words "more below" take themselves
const MAP_PAUSE = 250; // milliseconds between two maps while a goal is dragged

const titles: readonly (readonly [Tab, string])[] = [
  ['race', 'Race'],
  ['markers', 'Marker errors'],
  ['curves', 'Joint curves'],
  ['map', 'Definiteness'],
];

export class Drawer {
  readonly root = element('section', { className: 'drawer', hidden: true, 'aria-label': 'Plots' });
  #tab: Tab | null = null;
  #tabs = element('div', { className: 'joined', role: 'tablist', 'aria-label': 'Plots' });
  #fold = button('Fold the drawer', () => this.close(), '▾');
  #canvas = element('canvas', { role: 'img' });
  #legend = element('div', { className: 'legend', tabIndex: 0, role: 'region', 'aria-label': 'Legend' });
  #race: RacePlot;
  #markers: MarkerPlot;
  #curves: CurvePlot;
  #map: MapPlot;
  #drawn = 0;

  constructor(readonly app: App) {
    this.#race = new RacePlot(app, () => this.refresh());
    this.#markers = new MarkerPlot(app);
    this.#curves = new CurvePlot(app);
    this.#map = new MapPlot(app, () => this.refresh());
    this.root.append(element('div', { className: 'tabs' }, this.#tabs, element('span', { className: 'space' }), this.#fold), element('div', { className: 'plot' }, this.#canvas, this.#legend));
    this.#canvas.addEventListener('click', (event) => this.#click(event.offsetX, event.offsetY));
    new ResizeObserver(() => this.#draw()).observe(this.#canvas);
    this.#legend.addEventListener('scroll', () => this.#hintAtMore());
  }

  /** Another skeleton: old plots mean nothing. */
  forget(): void {
    this.#race.forget();
    this.#markers.forget();
    this.#curves.forget();
    this.#map.large = false;
    this.#tab = this.app.scene !== null && this.#has('map') ? 'map' : null; // a cart on two wheels has one as well, folded
  }

  #has(tab: Tab): boolean {
    const { session } = this.app;
    switch (tab) {
      case 'race':
        return this.#race.runners.length > 0;
      case 'markers':
        return !!session?.tracked;
      case 'curves':
        return !!session?.motion;
      case 'map':
        return !!session && hasLandscape(session);
    }
  }

  show(tab: Tab): void {
    this.app.makeRoomFor('drawer');
    this.#tab = tab;
    this.refresh();
  }

  race(): void {
    const { session } = this.app;
    if (session) {
      this.#race.run(session);
      if (this.#race.runners.length === 0) {
        this.app.notify('Add a goal first: then the methods have something to race for.', true);
      }
      this.show('race');
    }
  }

  refresh(): void {
    const there = titles.filter(([tab]) => this.#has(tab));
    if (!this.#tab || !this.#has(this.#tab)) {
      this.#tab = null;
    }
    this.root.hidden = there.length === 0;
    this.#tabs.replaceChildren(
      ...there.map(([tab, title]) =>
        button(title, () => this.show(tab), title, { role: 'tab', 'aria-selected': this.#tab === tab, className: this.#tab === tab ? 'chosen' : '' }),
      ),
    );
    this.#fold.hidden = !this.#tab;
    this.root.classList.toggle('folded', !this.#tab);
    const large = this.#tab === 'map' && this.#map.large;
    if (this.root.classList.contains('large') !== large) {
      this.root.classList.toggle('large', large);
      this.#legend.scrollTop = 0;
    }
    this.#draw();
    this.#hintAtMore();
  }

  /** Say so where rows are below the edge. */
  #hintAtMore(): void {
    const { scrollTop, clientHeight, scrollHeight } = this.#legend;
    this.#legend.classList.toggle('more', scrollTop + clientHeight < scrollHeight - HINT);
  }

  close(): void {
    this.#tab = null;
    this.refresh();
  }

  /** The pose has changed. */
  follow(): void {
    const now = performance.now();
    if (this.#tab === 'markers' || this.#tab === 'curves' || (this.#tab === 'map' && now - this.#drawn > MAP_PAUSE)) {
      this.#draw();
    }
  }

  #click(x: number, y: number): void {
    if (this.#tab === 'race') {
      this.#race.click(x, y);
    } else if (this.#tab === 'map') {
      this.#map.click(x, y);
    }
  }

  #draw(): void {
    if (this.root.hidden || !this.#tab) {
      return;
    }
    if (this.#tab !== 'markers') {
      this.#markers.forget();
    }
    if (this.#tab !== 'curves') {
      this.#curves.forget();
    }
    const plot = { race: this.#race, markers: this.#markers, curves: this.#curves, map: this.#map }[this.#tab];
    plot.draw(this.#canvas, this.#legend);
    this.#drawn = performance.now();
  }
}
