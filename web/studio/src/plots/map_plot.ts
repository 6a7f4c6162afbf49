/**
 * The cost of two links over both angles: contours over a map of where the Hessian is positive definite, and the ways of the
 * methods. A click places their start.
 */
import { type Method, methods } from 'poise-ik';
import type { App } from '../app.js';
import { button, element, swatch } from '../dom.js';
import { contour, levelsOf } from './contours.js';
import { angleAt, kinds, kindsOver, type Landscape, landscapeOf, names, partOf } from './definiteness.js';
import { nameOfMethod } from '../panel.js';
import { prepare } from './plots.js';
import { pathOf } from './race.js';
import type { Session } from '../session.js';

const SMALL = 60; // cells along each angle
const LARGE = 90;
const LEVELS = 9;
const LEGIBLE = 180; // pixels from which on axes have room for words

interface Way {
  method: Method;
  /** Parts of the map's width and height; beyond 0 and 1 after a whole turn. */
  points: [number, number][];
}

export class MapPlot {
  /** It fills most of the page, and shows every method. */
  large = false;
  #square = { left: 0, top: 0, size: 1 };
  #ways: Way[] = [];

  constructor(
    readonly app: App,
    readonly changed: () => void,
  ) {}

  get #palette(): string[] {
    const { series, grid } = this.app.colours;
    return [series[0]!, series[1]!, grid, series[5]!, series[4]!];
  }

  draw(canvas: HTMLCanvasElement, legend: HTMLElement): void {
    const { session } = this.app;
    if (!session) {
      return;
    }
    const land = landscapeOf(session, this.large ? LARGE : SMALL);
    this.#ways = this.#find(session);
    const { g, width, height } = prepare(canvas);
    const size = Math.min(width - 60, height - 26);
    this.#square = { left: Math.max(40, (width - size) / 2), top: 6, size };
    const picture = kindsOver(land, Math.round(size));
    this.#fill(g, picture, Math.round(size));
    this.#contours(g, land);
    [...this.#ways].reverse().forEach((way) => this.#way(g, way));
    this.#dot(g, [partOf(session.q[0]!), partOf(session.q[1]!)], this.app.colours.picked, 6);
    if (size > LEGIBLE) {
      this.#axes(g);
    }
    canvas.setAttribute('aria-label', 'Cost and definiteness of the Hessian over both joint angles. A click places the start of the methods.');
    this.#explain(new Set(picture), legend);
  }

  /** The chosen method first. */
  #find(session: Session): Way[] {
    const others = this.large ? methods.filter((method) => method !== session.method) : [];
    return [session.method, ...others].flatMap((method) => {
      const path = pathOf(session, method);
      const turns = [0, 1].map((k) => Math.floor((path?.[0]![k]! + Math.PI) / (2 * Math.PI)));
      const part = (q: Float64Array, k: number) => (q[k]! + Math.PI) / (2 * Math.PI) - turns[k]!;
      return path ? [{ method, points: path.map((q): [number, number] => [part(q, 0), part(q, 1)]) }] : [];
    });
  }

  #place([x, y]: readonly [number, number]): [number, number] {
    const { left, top, size } = this.#square;
    return [left + x * size, top + (1 - y) * size];
  }

  #fill(g: CanvasRenderingContext2D, kindsHere: Uint8Array, pixels: number): void {
    const { left, top, size } = this.#square;
    const own = element('canvas', { width: pixels, height: pixels });
    const image = new ImageData(pixels, pixels);
    const palette = this.#palette.map((colour) => parseInt(colour.slice(1), 16));
    kindsHere.forEach((kind, i) => {
      const rgb = palette[kind]!;
      image.data.set([rgb >> 16, (rgb >> 8) & 255, rgb & 255, 255], 4 * i);
    });
    own.getContext('2d')!.putImageData(image, 0, 0);
    g.globalAlpha = 0.7;
    g.drawImage(own, left, top, size, size);
    g.globalAlpha = 1;
  }

  #contours(g: CanvasRenderingContext2D, { side, costs }: Landscape): void {
    g.strokeStyle = this.app.colours.text;
    g.globalAlpha = 0.35;
    g.lineWidth = 1;
    g.beginPath();
    for (const level of levelsOf(costs, LEVELS)) {
      for (const { x0, y0, x1, y1 } of contour(costs, side, level)) {
        g.moveTo(...this.#place([(x0 + 0.5) / side, (y0 + 0.5) / side]));
        g.lineTo(...this.#place([(x1 + 0.5) / side, (y1 + 0.5) / side]));
      }
    }
    g.stroke();
    g.globalAlpha = 1;
  }

  #colour(method: Method): string {
    const { colours, session } = this.app;
    return this.large && method !== session?.method ? colours.series[methods.indexOf(method)]! : colours.text;
  }

  /** A line from iteration to iteration, which leaves the map on one side and comes in on the other. */
  #way(g: CanvasRenderingContext2D, { method, points }: Way): void {
    const { left, top, size } = this.#square;
    const pages = (k: 0 | 1) => [...new Set(points.flatMap((point) => [Math.floor(point[k]), Math.ceil(point[k]) - 1]))];
    g.strokeStyle = g.fillStyle = this.#colour(method);
    g.lineWidth = method === this.app.session?.method ? 2.2 : 1.4;
    g.save();
    g.beginPath();
    g.rect(left, top, size, size);
    g.clip();
    for (const dx of pages(0)) {
      for (const dy of pages(1)) {
        const places = points.map(([x, y]) => this.#place([x - dx, y - dy]));
        g.beginPath();
        places.forEach((place, i) => g[i === 0 ? 'moveTo' : 'lineTo'](...place));
        g.stroke();
        g.beginPath();
        places.forEach(([x, y]) => {
          g.moveTo(x, y);
          g.arc(x, y, 2.2, 0, 2 * Math.PI);
        });
        g.fill();
      }
    }
    g.restore();
    this.#dot(g, points[0]!, this.app.colours.stage, 5);
  }

  #dot(g: CanvasRenderingContext2D, at: readonly [number, number], colour: string, radius: number): void {
    g.fillStyle = colour;
    g.strokeStyle = this.app.colours.text;
    g.lineWidth = 1.5;
    g.beginPath();
    g.arc(...this.#place(at), radius, 0, 2 * Math.PI);
    g.fill();
    g.stroke();
  }

  #axes(g: CanvasRenderingContext2D): void {
    const { left, top, size } = this.#square;
    g.fillStyle = this.app.colours.faint;
    const labels = [['-180', 0, 'left'], ['first angle (degrees)', 0.5, 'center'], ['180', 1, 'right']] as const;
    const put = (text: string, x: number, y: number, align: CanvasTextAlign) => {
      g.textAlign = align;
      g.fillText(text, x, y);
    };
    labels.forEach(([text, part, align]) => put(text, left + part * size, top + size + 14, align));
    g.save();
    g.translate(left - 8, top + size);
    g.rotate(-Math.PI / 2);
    labels.forEach(([text, part, align]) => put(text.replace('first', 'second'), part * size, 0, align));
    g.restore();
  }

  #explain(present: Set<number>, legend: HTMLElement): void {
    const chosen = this.app.session!.method;
    const ways = this.#ways.map(({ method, points }) =>
      element(
        'tr',
        { className: method === chosen ? 'chosen' : '' },
        element('td', {}, swatch(this.#colour(method)), button(`Solve with ${nameOfMethod(method)}`, () => this.app.setMethod(method), nameOfMethod(method), { className: 'plain' })),
        element('td', {}, `${points.length - 1}`),
      ),
    );
    const head = element('tr', {}, element('th', {}, 'way of'), element('th', {}, 'iterations'));
    legend.replaceChildren(
      button(this.large ? 'A small map of the chosen method' : 'A large map with every method', () => this.#resize(), this.large ? 'Small map' : 'Large map, all methods'),
      element('p', { className: 'hint' }, 'Lines of equal cost over the kind of its Hessian. Click into the map to place the start (ring); the dot is the arm now.'),
      ...kinds.filter((_, i) => present.has(i)).map((kind) => element('div', {}, swatch(this.#palette[kinds.indexOf(kind)]!), names[kind])),
      element('table', {}, element('thead', {}, head), element('tbody', {}, ...ways)),
    );
  }

  #resize(): void {
    this.large = !this.large;
    this.changed();
  }

  /** Place the start. */
  click(x: number, y: number): void {
    const { left, top, size } = this.#square;
    const part: [number, number] = [(x - left) / size, 1 - (y - top) / size];
    if (this.app.session && part.every((p) => p >= 0 && p <= 1)) {
      this.app.session.start = Float64Array.from(part, angleAt);
      this.changed();
    }
  }
}
