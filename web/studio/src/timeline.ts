/** Play, scrub and step through a motion, a recording, or goals that move by keyframes. Hidden where there is none. */
import type { App } from './app.js';
import { button, element } from './dom.js';
import { TimeStrip } from './time_strip.js';

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

export class Timeline {
  readonly root = element('div', { className: 'timeline', hidden: true });
  /** The part that is played; null: all. */
  played: { from: number; to: number } | null = null;
  speed = 1;
  loops = true;
  #play: HTMLButtonElement;
  #loop: HTMLButtonElement;
  #part: HTMLButtonElement;
  #slider = element('input', { type: 'range', min: '0', step: 'any', 'aria-label': 'Time' });
  #speed = element('select', { 'aria-label': 'Speed' }, ...SPEEDS.map((x) => element('option', { value: String(x), selected: x === 1 }, `${x}×`)));
  #time = element('output', {});
  #strip: TimeStrip;

  constructor(readonly app: App) {
    this.#strip = new TimeStrip(app);
    this.#play = button('Play or pause (space)', () => app.play(), '▶');
    this.#loop = button('Begin again at the end', () => this.#setLoop(!this.loops), '⟳', { className: 'on', 'aria-pressed': 'true' });
    this.#part = button('Play only a part: begin here ([)', () => this.#togglePart(), '[ ]', { 'aria-pressed': 'false' });
    this.#speed.addEventListener('change', () => (this.speed = Number(this.#speed.value)));
    this.#slider.addEventListener('input', () => {
      const time = Number(this.#slider.value); // before the slider is told of the pause
      app.play(false);
      app.setTime(time);
    });
    this.root.append(
      this.#play,
      button('One frame back (,)', () => this.step(-1), '‹'),
      button('One frame on (.)', () => this.step(1), '›'),
      this.#loop,
      this.#part,
      element('div', { className: 'track' }, this.#strip.root, this.#slider),
      this.#speed,
      this.#time,
    );
  }

  step(frames: number): void {
    const { session } = this.app;
    if (session && session.duration > 0) {
      this.app.play(false);
      this.app.setTime((session.frame + frames + 0.5) * session.frameTime);
    }
  }

  /** Another motion: all of it is played. */
  forget(): void {
    this.played = null;
  }

  /** The part that is played begins or ends at the present time. */
  setPlayed(end: 'from' | 'to'): void {
    const { session } = this.app;
    if (session && session.duration > 0) {
      const { from, to } = this.played ?? { from: 0, to: session.duration };
      const least = session.frameTime;
      this.played = end === 'from' ? { from: session.time, to: Math.max(to, session.time + least) } : { from: Math.min(from, session.time - least), to: session.time };
      this.refresh();
    }
  }

  #togglePart(): void {
    if (this.played) {
      this.played = null;
      this.refresh();
    } else {
      this.setPlayed('from');
    }
  }

  #setLoop(on: boolean): void {
    this.loops = on;
    this.refresh();
  }

  /** Time goes on by `seconds` of the clock: it loops, or stops at the end. */
  advance(seconds: number): void {
    const session = this.app.session!;
    const from = this.played?.from ?? 0;
    const to = Math.min(this.played?.to ?? Infinity, session.duration);
    const next = Math.max(from, session.time) + this.speed * seconds;
    if (next < to) {
      session.setTime(next);
    } else if (this.loops) {
      session.setTime(from + ((next - from) % Math.max(to - from, session.frameTime)));
    } else {
      session.setTime(Math.min(to, session.duration - 1e-9));
      this.app.play(false);
    }
    this.move();
  }

  refresh(): void {
    const duration = this.app.session?.duration ?? 0;
    this.root.hidden = !this.app.session?.plays;
    this.#slider.max = String(duration);
    this.#play.textContent = this.app.playing ? '❚❚' : '▶';
    for (const [control, on] of [[this.#play, this.app.playing], [this.#loop, this.loops], [this.#part, !!this.played]] as const) {
      control.setAttribute('aria-pressed', String(on));
      control.classList.toggle('on', on && control !== this.#play);
    }
    this.#strip.refresh();
    this.move();
  }

  /** Time has gone on. */
  move(): void {
    const { session } = this.app;
    if (session) {
      this.#slider.value = String(session.time);
      this.#time.textContent = `${session.time.toFixed(2)} s · frame ${session.frame}`;
    }
  }
}
