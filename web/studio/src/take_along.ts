/** What the user takes along: a link, a file, or the goals as part of the motion. */
import type { Clip } from 'poise-ik';
import type { App } from './app.js';
import { download } from './dom.js';
import { bake, extensionOf, save, type SaveKind } from './saving.js';
import { encode, MOST_LETTERS, pack } from './share.js';

export class TakeAlong {
  constructor(readonly app: App) {}

  async share(): Promise<void> {
    const { app } = this;
    const { session } = app;
    if (!session) {
      return;
    }
    const files = app.files.length > 0 ? { files: app.files.map(({ name, bytes }) => pack(name, bytes)) } : {};
    const text = await encode({ ...(app.scene ? { scene: app.scene } : {}), ...files, state: session.save() });
    if (text.length > MOST_LETTERS) {
      app.notify(`This is too much for a link (${Math.round(text.length / 1000)} kB; ${MOST_LETTERS / 1000} kB fit). Save it and send the file instead.`);
      return;
    }
    const link = new URL(location.href);
    link.search = '';
    link.hash = text;
    history.replaceState(null, '', link);
    try {
      await navigator.clipboard.writeText(link.href);
      app.notify('A link to this scene is in the clipboard and in the address bar.', true);
    } catch {
      app.notify('A link to this scene is in the address bar.', true);
    }
  }

  /** What a file of this kind is called. */
  fileName(kind: SaveKind): string {
    const title = this.app.session?.stage.title ?? '';
    return `${title.replace(/\.[a-z0-9]+$/i, '').replaceAll(/[^\w-]+/g, '-') || 'poise'}.${extensionOf(kind)}`;
  }

  /** The skeleton alone, as poise JSON. */
  saveSkeleton(file: string): void {
    const { session } = this.app;
    if (session) {
      const { model, stage } = session;
      download(file, this.app.poise.write({ model, scale: stage.scale, postures: stage.postures, title: stage.title }, 'json').bytes, 'application/json');
    }
  }

  /** The problem on the screen as programs. */
  async code(): Promise<void> {
    const { session } = this.app;
    const goals = session?.targets.some(({ enabled }) => enabled);
    if (!goals || session?.mode === 'express' || session?.followMarkers) {
      this.app.notify('Code is there for goals that are met: add a goal, and choose "Meet the goals" as the method.', true);
      return;
    }
    const { codeDialog } = await import('./code/code_dialog.js');
    codeDialog(this.app);
  }

  /** What is on the screen as a file. */
  async export(kind: SaveKind = 'json'): Promise<void> {
    const { app } = this;
    const { session } = app;
    if (!session) {
      return;
    }
    try {
      const file = this.fileName(kind);
      const { bytes, warnings } = await save(session, kind, (part) => app.notices.progress(`Writing ${file}`, part));
      download(file, bytes, kind === 'json' ? 'application/json' : undefined);
      app.notify([`Saved ${file}${kind === 'csv' ? this.#ofTable(session.stage.scale.metres) : ''}.`, ...warnings.map((w) => w.text)].join('\n'), warnings.length === 0);
    } catch (error) {
      app.complain(error);
    }
  }

  /** What a table of joint values is for. */
  #ofTable(metres: number): string {
    return `: a table for other programs, in radians and ${metres === 1 ? 'metres' : 'the length unit of the skeleton'}; dropped here, it moves this skeleton again`;
  }

  /** Make the goals part of the motion. */
  async bake(): Promise<void> {
    const { app } = this;
    const { session } = app;
    if (session) {
      const clip = await bake(session, (part) => app.notices.progress('Baking the goals into the motion', part));
      if (session !== app.session) {
        clip.dispose();
        return;
      }
      this.#setBaked(clip);
      app.notify('The goals are part of the motion now, and rest.', true);
    }
  }

  unbake(): void {
    this.#setBaked(null);
  }

  #setBaked(clip: Clip | null): void {
    this.app.session?.setBaked(clip);
    this.app.viewport.handles.rebuild();
    this.app.commit();
  }
}
