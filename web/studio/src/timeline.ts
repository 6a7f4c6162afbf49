/** Play, scrub and step through a motion or a recording. Hidden where there is none. */
import type { App } from './app.js';
import { button, element } from './dom.js';

export class Timeline {
  readonly root = element('div', { className: 'timeline', hidden: true });
  #play: HTMLButtonElement;
  #slider = element('input', { type: 'range', min: '0', step: 'any', 'aria-label': 'Time' });
  #time = element('output', {});

  constructor(readonly app: App) {
    this.#play = button('Play or pause (space)', () => app.play(), '▶');
    this.#slider.addEventListener('input', () => {
      const time = Number(this.#slider.value); // before the slider is told of the pause
      app.play(false);
      app.setTime(time);
    });
    this.root.append(
      this.#play,
      button('One frame back (,)', () => this.step(-1), '‹'),
      button('One frame on (.)', () => this.step(1), '›'),
      this.#slider,
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

  refresh(): void {
    const duration = this.app.session?.duration ?? 0;
    this.root.hidden = duration === 0;
    this.#slider.max = String(duration);
    this.#play.textContent = this.app.playing ? '❚❚' : '▶';
    this.#play.setAttribute('aria-pressed', String(this.app.playing));
    this.move();
  }

  /** Time has gone on. */
  move(): void {
    const { session } = this.app;
    if (session) {
      this.#slider.value = String(session.time);
      this.#time.textContent = `${session.time.toFixed(2)} s · frame ${session.frame + 1}`;
    }
  }
}
