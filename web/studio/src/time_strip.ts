/** The strip above the slider of the timeline: keys of goals, the part that is played, where markers are missing, and frames that do not count. */
import type { App } from './app.js';
import { button, element } from './dom.js';
import { Held } from './recording/recording_job.js';
import type { Session } from './session.js';

export class TimeStrip {
  readonly root = element('div', { className: 'strip' });
  #gaps = element('canvas', { className: 'gaps', role: 'img' });
  #drawn: { markers: object | null; label: string; colour: string } | null = null;

  constructor(readonly app: App) {
    new ResizeObserver(() => this.refresh()).observe(this.root);
  }

  refresh(): void {
    const { session } = this.app;
    if (session && session.duration > 0) {
      this.root.replaceChildren(...this.#range(session), ...this.#keys(session), ...this.#heldRow(session), ...this.#gapRow(session));
      this.root.classList.toggle('keyed', session.targets.some(({ keys }) => keys));
    }
  }

  #share(time: number): string {
    return `${(100 * time) / this.app.session!.duration}%`;
  }

  /** The part of the time that is played. */
  #range(session: Session): HTMLElement[] {
    const { played } = this.app.timeline;
    const band = element('div', { className: 'played' });
    if (played) {
      band.style.left = this.#share(played.from);
      band.style.width = this.#share(Math.min(played.to, session.duration) - played.from);
    }
    return played ? [band] : [];
  }

  #keys(session: Session): HTMLElement[] {
    const { app } = this;
    return session.targets.flatMap((target, index) =>
      (target.keys ?? []).map(({ time }) => {
        const name = session.model.joints[target.body]?.body ?? '';
        const chosen = app.viewport.handles.selected === index;
        const mark = button(
          `Keyframe of the goal of ${name} at ${time.toFixed(2)} s`,
          () => {
            app.selectTarget(index);
            app.play(false);
            app.setTime(time);
          },
          '◆',
          { className: chosen ? 'key chosen' : 'key', tabIndex: chosen ? 0 : -1 },
        );
        mark.style.left = this.#share(time);
        return mark;
      }),
    );
  }

  /** Bars over the frames that hold the last good pose. */
  #heldRow(session: Session): HTMLElement[] {
    const held = session.tracked?.held ?? [];
    const runs: { from: number; to: number; why: number }[] = [];
    held.forEach((why, f) => {
      const last = runs.at(-1);
      if (why !== Held.no && last?.to === f && last.why === why) {
        last.to = f + 1;
      } else if (why !== Held.no) {
        runs.push({ from: f, to: f + 1, why });
      }
    });
    return runs.map(({ from, to, why }) => {
      const isAway = why === Held.away;
      const words = `${to - from === 1 ? `Frame ${from} does` : `Frames ${from} to ${to - 1} do`} not count: ${isAway ? 'nobody is there' : 'too few markers to trust, the last good pose is held'}`;
      const bar = element('div', { className: isAway ? 'held away' : 'held', role: 'img', title: words, 'aria-label': words });
      bar.style.left = this.#share(from * session.frameTime);
      bar.style.width = this.#share((to - from) * session.frameTime);
      return bar;
    });
  }

  /** A bar where the picked marker, or some of all, are not seen: the more, the stronger. */
  #gapRow(session: Session): HTMLElement[] {
    const { markers } = session.stage;
    const width = this.root.clientWidth;
    if (!markers || width === 0) {
      return [];
    }
    const label = this.app.viewport.markers.picked ?? '';
    const colour = this.app.colours.limit;
    if (this.#drawn?.markers !== markers || this.#drawn.label !== label || this.#drawn.colour !== colour || this.#gaps.width !== width) {
      this.#drawn = { markers, label, colour };
      this.#gaps.width = width;
      this.#gaps.height = 4;
      const share = this.#missing(session, label, width);
      const context = this.#gaps.getContext('2d')!;
      context.fillStyle = colour;
      share.forEach((part, x) => {
        context.globalAlpha = part > 0 ? 0.25 + 0.75 * part : 0;
        context.fillRect(x, 0, 1, 4);
      });
      const missing = share.filter((part) => part > 0).length / width;
      this.#gaps.setAttribute('aria-label', `${label || 'Some markers'} not seen for ${Math.round(100 * missing)} % of the time`);
      this.#gaps.title = this.#gaps.getAttribute('aria-label')!;
    }
    return [this.#gaps];
  }

  /** For each pixel, which part of the markers that count is not seen in some frame below it. */
  #missing(session: Session, label: string, width: number): number[] {
    const markers = session.stage.markers!;
    const placed = session.stage.placements.map((place) => place.label);
    const wanted = (label ? [label] : placed.length > 0 ? placed : markers.labels).map((name) => ({ label: name }));
    const indices = markers.indices(wanted).filter((index) => index >= 0);
    return Array.from({ length: width }, (_, x) => {
      const frame = Math.min(markers.frames - 1, Math.floor(((x + 0.5) / width) * markers.frames));
      const points = markers.frame(frame);
      return indices.filter((index) => !Number.isFinite(points[3 * index]!)).length / Math.max(1, indices.length);
    });
  }
}
