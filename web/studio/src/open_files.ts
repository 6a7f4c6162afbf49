/** From dropped files to what stands on the stage. Everything that a failed attempt made is disposed of. */
import {
  type Edit,
  type Model,
  type Poise,
  PoiseError,
  type PoiseFile,
  type Warning,
} from 'poise-ik';
import { animationsIn } from './body/gltf_names.js';
import { findNamed, type NamedFile } from './body/named_files.js';
import type { RobotFile } from './body/mesh_shapes_job.js';
import type { Work } from './beside.js';
import { followRecording } from './recording/follow_recording.js';
import { clipOf, firstCounted, type MarkerNumbers, markerNumbers, markersOf, type TrackedAnswer } from './recording/recording_job.js';
import { errorOf, judgedFit } from './recording/track_session.js';
import { againstIt } from './verdict_words.js';
import { baseName, choicesOf, extension, fileSets, misnamed, movesRoot, notShown, unknownAmong, type Wish } from './loading/file_sets.js';
import { KINDS, plain } from './plain_words.js';
import { Session } from './session.js';
import type { Choices, Judged, Stage } from './stage.js';
import { addFirstTarget } from './stages.js';
import { counted } from './status.js';
import { type Target, targetOf } from './targets.js';

/** Named with its folders, where it came with some. */
export type DroppedFile = NamedFile;

/** What became of dropped files. */
export interface Opened {
  session: Session;
  /** What to tell the user about them. */
  notes: string[];
  /** They move the skeleton that stood there, which they do not hold. */
  onto: boolean;
  /** The file that describes what the skeleton looks like. */
  robot: RobotFile | null;
  /** Collision meshes that are named in it, and were not read. */
  meshes: number;
  /** The skeleton is the built-in body, fitted to a recording. */
  isBuiltIn: boolean;
  /** The notes are no mere remarks: they say whether what is seen can be trusted. */
  isDoubtful: boolean;
}

const MOST_NOTES = 6; // kinds of them, of one file
const LEAST_PLACED = 6; // markers of a recording that a skeleton has places for, for it to be of that

const stem = (name: string): string => baseName(name).replace(/\.[^.]*$/, '');

/** A place in a file, for people. */
const placeIn = (name: string, line: number): string => (line > 0 ? `${baseName(name)}, line ${line}` : baseName(name));

/** Without extensions of glTF that matter to meshes alone, which are drawn by other means. */
function withoutDrawn(warnings: readonly Warning[], { bytes }: DroppedFile): Warning[] {
  const drawn = /the extension (EXT_texture_webp|KHR_mesh_quantization|KHR_texture_transform|(EXT|KHR)_meshopt_compression) is/;
  const isOfMotion = (text: string) => text.includes('meshopt') && animationsIn(bytes).length > 0;
  const words = (text: string) => (isOfMotion(text) ? 'its motion is compressed (EXT_meshopt_compression), which Poise does not read: export it without compression' : text);
  return warnings.filter(({ text }) => !drawn.test(text) || isOfMotion(text)).map((warning) => ({ ...warning, text: words(warning.text) }));
}

/** Open files that belong together: one with a skeleton, others with motions or markers of it. Throws when it cannot be done. */
export async function openFiles(poise: Poise, files: readonly DroppedFile[], current: Session | null, work: Work, wish: Wish = {}): Promise<Opened> {
  const sets = fileSets(files, wish);
  const failures: unknown[] = [];
  const ways = sets.ways.filter((list) => list.length > 0);
  const lenient = ways.filter((list) => list.length > 1); // where none is whole: without what is broken in it
  for (const [i, way] of [...ways, ...lenient].entries()) {
    try {
      const floating = wish.floating ?? way.some(movesRoot);
      const opened = await openAll(i >= ways.length, new Opening(poise, files, current, work, { ...wish, floating }), way);
      const own = choicesOf(sets, way, opened.robot?.format ?? '', wish.animation ?? 0);
      const choices = opened.onto ? { ...own, ...robotsOf(current) } : own;
      Object.assign(opened.session.stage, opened.onto ? { choices } : { choices, floating });
      opened.notes.unshift(...(wish.robot || wish.motion ? [] : notShown(choices)));
      const broken = [...(files.every(({ name }) => !name.includes('/')) ? failures : []), ...opened.failures].map((error) => (error instanceof Error ? error.message : String(error)));
      const unknown = unknownAmong(files);
      opened.notes.unshift(...new Set(broken), ...(unknown.length > 0 ? [`Not opened: ${unknown.join(', ')}. The studio reads ${KINDS}.`] : []));
      opened.isDoubtful ||= broken.length > 0;
      return opened;
    } catch (error) {
      work.signal.throwIfAborted();
      failures.push(error);
    }
  }
  const xacro = files.find(({ name }) => extension(name) === 'xacro')?.name;
  const unread = xacro
    ? `These files hold xacro, such as ${baseName(xacro)}, from which a URDF is made. Run "xacro ${baseName(xacro)} > robot.urdf", put robot.urdf into the folder, and drop it again.`
    : `None of these files is of a kind that Poise reads: ${KINDS}.`;
  throw failures[0] ?? new Error(unread);
}

/** The robot that stands there, and the others of its folder. */
function robotsOf(current: Session | null): Partial<Choices> {
  const { robots, robot } = current?.stage.choices ?? {};
  return robots && robot !== undefined ? { robots, robot } : {};
}

/** One after the other; a lenient look passes over files that fail, but for the first. */
async function openAll(isLenient: boolean, opening: Opening, list: readonly DroppedFile[]): Promise<Opened & { failures: unknown[] }> {
  try {
    const failures: unknown[] = [];
    for (const [i, file] of list.entries()) {
      await opening.add(file).catch((error: unknown) => {
        opening.work.signal.throwIfAborted();
        if (i === 0 || !isLenient) {
          throw error;
        }
        failures.push(error);
      });
    }
    return { ...opening.finish(), failures };
  } catch (error) {
    opening.dispose();
    throw error;
  }
}

/** What a recording became, in plain words. */
function wordsOf(name: string, answer: TrackedAnswer, whose: string): string[] {
  const { placements, markers } = answer;
  return [
    `${name}: ${placements.length} of ${markers.labels.length} markers placed on the ${whose}; it follows them to ${errorOf(answer, 'on average')}.`,
    ...againstIt(judgedFit(answer)),
  ];
}

class Opening {
  #robot: Opened['robot'] = null;
  #notes: string[] = [];
  #stage: Stage | null = null;
  #targets: Target[] = [];
  #owned = new Set<{ dispose(): void }>();
  #onto = false;
  #tracked: Session['tracked'] = null;
  #judged: Judged | null = null;
  #isBuiltIn = false;
  #isTurned = false; // it does not stand as in its file
  #read = new Set<string>(); // names of files

  constructor(
    readonly poise: Poise,
    readonly files: readonly DroppedFile[],
    readonly current: Session | null,
    readonly work: Work,
    readonly wish: Wish,
  ) {}

  async add(file: DroppedFile): Promise<void> {
    this.#read.add(file.name);
    if (['c3d', 'trc'].includes(this.poise.detect(file.bytes, file.name))) {
      this.#stage = await this.#recording(file.name, file);
      return;
    }
    const content = this.#contentOf(file);
    if (content.model) {
      this.#robot = { name: file.name, format: content.format, bytes: file.bytes };
    }
    const parts = [content.model, content.clip, content.markers, content.carried];
    parts.forEach((part) => part && this.#owned.add(part));
    this.#notes.push(...[misnamed(file.name, content.format)].filter(Boolean));
    this.#warn(file.name, withoutDrawn(content.warnings, file), content.warningsDropped);
    this.#stage = await this.#merge(file.name, content);
  }

  #warn(name: string, all: readonly Warning[], dropped: number): void {
    const warnings = all.filter(({ text }) => !text.includes('options.animation')); // the panel offers them
    const kindOf = ({ text }: Warning) => text.replace(/"[^"]*"/g, '""'); // the same of another joint is the same
    const kinds = [...new Set(warnings.map(kindOf))].slice(0, MOST_NOTES);
    const shown = kinds.map((kind) => warnings.filter((warning) => kindOf(warning) === kind));
    this.#notes.push(...shown.map(([first, ...more]) => `${placeIn(name, first!.line)}: ${plain(first!.text)}${more.length > 0 ? `, and ${more.length} more like it` : ''}`));
    const left = warnings.length + dropped - shown.reduce((sum, list) => sum + list.length, 0);
    if (left > 0) {
      this.#notes.push(`${baseName(name)}: and ${counted(left, 'other remark')}`);
    }
  }

  finish(): Opened {
    const stage = this.#stage;
    if (!stage) {
      throw new Error('There is nothing to show in these files.');
    }
    const targets = this.#targets.filter((t) => t.body >= 0 && t.body < stage.model.joints.length);
    for (const part of this.#owned) {
      if (![stage.model, stage.clip, stage.markers, stage.carried, this.#tracked?.clip].some((kept) => kept === part)) {
        part.dispose();
      }
    }
    if (this.#onto && this.current) {
      this.current.stage.carried = null; // its skin goes on to the new stage
    }
    const session = new Session(this.poise, { ...stage, targets, read: [...(this.#onto ? (this.current?.stage.read ?? []) : []), ...this.#read] });
    if (this.#tracked) {
      session.tracked = this.#tracked;
      session.followMarkers = false;
      session.setTime(firstCounted(this.#tracked.held) * session.frameTime);
    }
    if (targets.length === 0 && session.duration === 0) {
      addFirstTarget(session);
    }
    session.judged = this.#judged;
    const isDoubtful = !session.hasSkeleton || (this.#judged !== null && this.#judged.verdict !== 'good');
    return { session, notes: this.#notes, onto: this.#onto, robot: this.#robot, meshes: stage.bounds?.shapesSkipped ?? 0, isBuiltIn: this.#isBuiltIn, isDoubtful };
  }

  dispose(): void {
    this.#owned.forEach((part) => part.dispose());
  }

  #contentOf(file: DroppedFile): PoiseFile {
    const model = this.#stage?.model ?? this.current?.model;
    const load = (name: string): Uint8Array | null => {
      const found = findNamed(this.files, name);
      this.#read.add(found?.name ?? name);
      return found?.bytes ?? null;
    };
    const read = (edit: Edit = {}) => this.poise.read(file.bytes, { name: file.name, animation: this.wish.animation ?? 0, floating: this.wish.floating ?? false, load, edit, ...(model ? { model } : {}) });
    try {
      const content = read();
      if (content.up !== 'x' || !content.model) {
        return content;
      }
      content.dispose();
      this.#isTurned = true;
      this.#notes.push(`In ${baseName(file.name)} x points up: it is turned so that y does, here and where it is saved.`);
      return read({ assumed: { metres: 0, up: 'x' }, scale: { metres: 0, up: 'y' } });
    } catch (error) {
      throw this.#named(file.name, error);
    }
  }

  /** The same error with the name of its file, and what helps. */
  #named(name: string, error: unknown): unknown {
    if (!(error instanceof PoiseError)) {
      return error;
    }
    const hint = /cannot (be loaded|load)/.test(error.message) ? '\nDrop it together with the files that it names.' : '';
    return new Error(`${placeIn(name, error.line)}: ${plain(error.message)}${hint}`, { cause: error });
  }

  async #merge(name: string, content: PoiseFile): Promise<Stage> {
    if (content.model) {
      return this.#skeleton(name, content, content.model);
    }
    if (content.clip) {
      const base = this.#stage ?? this.#present();
      if (!base) {
        throw new Error(`${name} moves a skeleton that it does not hold. Drop the skeleton together with it.`);
      }
      return { ...base, title: name.replace(/(?<= on .+)\.csv$/, ''), clip: content.clip, motion: stem(name), q: Array.from(content.clip.frame(0)) };
    }
    if (content.markers) {
      return this.#recording(name, markerNumbers(content.markers));
    }
    throw new Error(`${name} holds neither a skeleton, nor a motion, nor markers.`);
  }

  #skeleton(name: string, content: PoiseFile, model: Model): Stage {
    const { up, upBy } = content;
    const scale = { ...content.scale, up };
    if (upBy === 'custom' && ['bvh', 'asf'].includes(content.format)) {
      this.#notes.push(`${baseName(name)} does not say which axis points up, and no figure in it tells: ${up} is taken. Say so under View, Upwards, if it is another.`);
    }
    const posture = content.postures.find((p) => p.name === 'studio') ?? content.postures[0];
    const q = content.clip ? Array.from(content.clip.frame(0)) : posture?.q;
    const targets = content.goals.map(targetOf);
    this.#targets = targets.filter((t) => t !== null);
    if (this.#targets.length < targets.length) {
      this.#notes.push(`${name}: ${targets.length - this.#targets.length} goals are of kinds that have no handle here and are left out`);
    }
    const { clip, markers, placements, loops, carried } = content;
    const postures = content.postures.filter((p) => p.name !== 'studio');
    const title = content.title && !/^((aux|root|default|main)[ _-]?)?(scene|node|root)$/i.test(content.title) ? content.title : baseName(name); // exporters' defaults name nothing
    const { shapes, excluded, shapesSkipped } = content;
    const bounds = shapes.length > 0 || shapesSkipped > 0 ? { bounds: { shapes, excluded, shapesSkipped } } : {};
    return { title, file: name, ...(this.#robot && !this.#isTurned ? { robot: this.#robot } : {}), model, scale, upBy, postures, placements, loops, clip, markers, carried, ...bounds, ...(q ? { q } : {}) };
  }

  /** The skeleton that stands there once more, for a file that moves it. */
  #present(): Stage | null {
    const { current } = this;
    if (!current?.hasSkeleton) {
      return null;
    }
    this.#onto = true;
    const { bytes } = this.poise.write({ model: current.model, scale: current.stage.scale, placements: current.stage.placements }, 'json');
    const copy = this.poise.read(bytes, { name: 'skeleton.json' });
    const model = copy.model!;
    this.#owned.add(model);
    return { ...current.stage, model, clip: null, markers: null, placements: copy.placements };
  }

  /** The skeleton that stands there, if its file has places for markers of this recording, as an OpenSim model has. */
  #presentFor(recording: DroppedFile | MarkerNumbers): Stage | null {
    const { file, placements = [] } = this.current?.stage ?? {};
    if (!file || placements.length === 0 || !('bytes' in recording)) {
      return null;
    }
    using content = this.#contentOf(recording);
    const labels = new Set(content.markers?.labels ?? []);
    const placed = placements.filter(({ label }) => labels.has(label)).length;
    return placed >= LEAST_PLACED ? this.#present() : null;
  }

  /** Markers on the skeleton that came with them, or that has places for them, or on the built-in body: all that `poise track` does, with its verdict. */
  async #recording(name: string, recording: DroppedFile | MarkerNumbers): Promise<Stage> {
    const { poise } = this;
    const stage = this.#stage ?? this.#presentFor(recording);
    const work = { ...this.work, progress: (what: string, part: number | null) => this.work.progress(`${name}: ${what}`, part) };
    const skeleton = stage ? poise.write({ model: stage.model, scale: stage.scale, placements: stage.placements, postures: stage.postures }, 'json').bytes : null;
    const format = stage?.robot?.format;
    const followed = { skeleton, recording, options: {}, ...(format ? { format } : {}) };
    const answer = await followRecording({ compiled: poise.compiled, ...followed }, work).catch((error: unknown) => {
      throw this.#named(name, error);
    });
    this.#warn(name, answer.warnings, answer.warningsDropped);
    const base = { title: name, postures: stage?.postures ?? [], loops: stage?.loops ?? [], clip: null, markers: this.#keep(markersOf(poise, answer.markers)), scale: answer.scale, upBy: stage?.upBy ?? 'file' as const };
    if (answer.kind === 'bare') {
      this.#notes.push(`${name} is shown without a body: ${plain(answer.why)}`);
      return { ...base, model: this.#keep(poise.model({ joints: [{ name: 'world', type: 'fixed' }] })), placements: [] };
    }
    const model = answer.model ? this.#keep(poise.read(answer.model, { format: 'json' }).model!) : stage!.model;
    const clip = this.#keep(clipOf(poise, answer.clip, answer.held));
    const { placements, distances: errors, counted: counts, byMarker, held } = answer;
    this.#isBuiltIn = !stage;
    this.#tracked = { clip, errors, counted: counts, byMarker, held };
    this.#judged = judgedFit(answer);
    this.#notes.push(...wordsOf(name, answer, stage ? 'skeleton' : 'built-in body'));
    const file = !answer.model && stage?.file ? { file: stage.file, ...(stage.robot ? { robot: stage.robot } : {}), ...(stage.bounds ? { bounds: stage.bounds } : {}) } : {};
    return { ...base, ...file, followed, carried: stage?.carried ?? null, motion: stem(name), model, placements, q: Array.from(clip.frame(firstCounted(held))) };
  }

  #keep<T extends { dispose(): void }>(part: T): T {
    this.#owned.add(part);
    return part;
  }
}
