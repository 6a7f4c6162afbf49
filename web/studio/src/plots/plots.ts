/** Plots on a canvas: lines on linear or logarithmic axes. */
import type { Colours } from '../theme.js';

export interface Series {
  name: string;
  colour: string;
  values: ArrayLike<number>; // against their index; what is not finite leaves a gap
  bold?: boolean;
}

export interface PlotOptions {
  x: string;
  y: string;
  log?: boolean;
  /** A line across at this index. */
  cursor?: number;
  /** Multiplies the index. */
  step?: number;
}

const MARGIN = { left: 66, right: 12, top: 10, bottom: 34 };

/** Fit the canvas to its box in device pixels; the context works in CSS pixels. */
export function prepare(canvas: HTMLCanvasElement): { g: CanvasRenderingContext2D; width: number; height: number } {
  const ratio = Math.min(devicePixelRatio, 2);
  const width = Math.max(canvas.clientWidth, 50);
  const height = Math.max(canvas.clientHeight, 50);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext('2d') as CanvasRenderingContext2D;
  g.scale(ratio, ratio);
  g.font = '11px system-ui, sans-serif';
  return { g, width, height };
}

/** 1, 2 or 5 times a power of ten, such that a range has about so many of them. */
function niceStep(range: number, count = 5): number {
  const rough = range / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const mantissa = rough / power;
  return power * (mantissa > 5 ? 10 : mantissa > 2 ? 5 : mantissa > 1 ? 2 : 1);
}

const FLOOR = 1e-16; // of values on a logarithmic axis

/** Where values are in the picture, in CSS pixels. */
export interface Places {
  x(index: number): number;
  y(value: number): number;
}

export function drawPlot(canvas: HTMLCanvasElement, series: readonly Series[], options: PlotOptions, colours: Colours): Places | null {
  const { g, width, height } = prepare(canvas);
  const log = options.log ?? false;
  const value = (x: number): number => (log ? Math.log10(Math.max(x, FLOOR)) : x);
  const shown = series.flatMap((s) => Array.from(s.values).filter(Number.isFinite).map(value));
  let low = Math.min(...shown, log ? Infinity : 0);
  let high = Math.max(...shown);
  if (!Number.isFinite(low) || !Number.isFinite(high)) {
    g.fillStyle = colours.faint;
    g.fillText('Nothing to draw yet.', MARGIN.left, height / 2);
    return null;
  }
  if (high - low < 1e-12) {
    high = low + 1;
  }
  const count = Math.max(2, ...series.map((s) => s.values.length));
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const px = (i: number): number => MARGIN.left + (i / (count - 1)) * inner.width;
  const py = (v: number): number => MARGIN.top + (1 - (v - low) / (high - low)) * inner.height;

  g.strokeStyle = colours.rule;
  g.fillStyle = colours.faint;
  g.lineWidth = 1;
  g.textAlign = 'right';
  const lines = Math.min(6, Math.max(1, Math.floor(inner.height / 22))); // as many as have room
  const step = log ? Math.max(1, Math.ceil((high - low) / lines)) : niceStep(high - low, lines);
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) {
    g.beginPath();
    g.moveTo(MARGIN.left, py(v));
    g.lineTo(width - MARGIN.right, py(v));
    g.stroke();
    g.fillText(log ? `1e${Math.round(v)}` : String(+v.toPrecision(4)), MARGIN.left - 6, py(v) + 4);
  }
  g.textAlign = 'center';
  const scale = options.step ?? 1;
  const xStep = niceStep((count - 1) * scale);
  for (let x = 0; x <= (count - 1) * scale + 1e-9; x += xStep) {
    g.fillText(String(+x.toPrecision(4)), px(x / scale), height - MARGIN.bottom + 15);
  }
  g.fillText(options.x, MARGIN.left + inner.width / 2, height - 5);
  g.save();
  g.translate(12, MARGIN.top + inner.height / 2);
  g.rotate(-Math.PI / 2);
  g.fillText(options.y, 0, 0);
  g.restore();

  for (const s of series) {
    g.strokeStyle = s.colour;
    g.lineWidth = s.bold ? 2.5 : 1.3;
    g.beginPath();
    let pen = false;
    for (let i = 0; i < s.values.length; i++) {
      const v = s.values[i]!;
      if (!Number.isFinite(v)) {
        pen = false;
      } else if (pen) {
        g.lineTo(px(i), py(value(v)));
      } else {
        g.moveTo(px(i), py(value(v)));
        pen = true;
      }
    }
    g.stroke();
  }
  if (options.cursor !== undefined) {
    g.strokeStyle = colours.picked;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(px(options.cursor), MARGIN.top);
    g.lineTo(px(options.cursor), MARGIN.top + inner.height);
    g.stroke();
  }
  return { x: px, y: (v) => py(value(v)) };
}
