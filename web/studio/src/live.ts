/** A stream that runs, seen live: `poise view --live` passes its lines on, and takes goals to it. */
import { type Pose, identityPose } from 'poise-ik';
import type { App } from './app.js';
import { Ghost } from './view/ghost.js';
import type { Session } from './session.js';
import type { Target } from './targets.js';

/** What a line of `poise stream` holds, as far as it is shown. */
interface Line {
  q?: number[];
  /** What is held, as the animation has it. */
  posture?: number[];
  t?: number;
  angle?: number;
  rate?: number;
  end?: string;
  servo?: { scale: number[]; offset: number[] };
  error?: string;
}

/** Where the end of the stream, by its name, is on the skeleton. */
function endOf(session: Session, name: string): { body: number; local: Pose } | null {
  const { model } = session;
  const tool = model.tools.find((t) => t.name === name);
  const joint = model.joints.find((j) => j.body === name || j.name === name);
  return tool ? { body: tool.body, local: tool.pose } : joint ? { body: joint.index, local: identityPose } : null;
}

export class Live {
  /** Lines that were shown, and the time of the last one in the stream's clock. */
  shown = 0;
  time = 0;
  /** The virtual character, where the lines hold its posture. */
  ghost: Ghost | null = null;
  #socket: WebSocket;
  #target: Target | null = null;
  #servo: { scale: number[]; offset: number[] } | null = null;

  constructor(readonly app: App) {
    const address = new URL('/live', location.href);
    address.protocol = 'ws:';
    this.#socket = new WebSocket(address);
    this.#socket.addEventListener('message', (event) => this.#take(JSON.parse(String(event.data)) as Line));
    this.#socket.addEventListener('close', () => app.notify('The stream has ended.', false));
  }

  #take(line: Line): void {
    const { session } = this.app;
    if (!session) {
      return;
    }
    if (line.end !== undefined) {
      this.#begin(session, line);
    }
    if (line.error) {
      this.app.notify(line.error, false);
    }
    if (line.q && line.q.length === session.q.length) {
      session.q.set(this.#angles(line.q));
      session.last = { ...session.last, outcome: 'reached', angle: line.angle ?? 0 };
      this.shown += 1;
      this.time = line.t ?? 0;
      this.#showGhost(session, line.posture);
      this.app.touch();
    }
  }

  /** What the motors call these angles, as the skeleton has them. */
  #angles(motors: number[]): number[] {
    const servo = this.#servo;
    return servo ? motors.map((x, i) => (x - servo.offset[i]!) / servo.scale[i]!) : motors;
  }

  #showGhost(session: Session, posture: number[] | undefined): void {
    if (this.ghost && this.ghost.session !== session) {
      this.ghost.dispose();
      this.ghost = null;
    }
    if (session.live && posture?.length === session.q.length) {
      this.ghost ??= new Ghost(session, this.app.viewport);
      this.ghost.show(this.#angles(posture));
    }
  }

  /** The first line: what is aimed has a goal that can be dragged. */
  #begin(session: Session, line: Line): void {
    const end = endOf(session, line.end ?? '');
    this.#servo = line.servo ?? null;
    session.live = true;
    session.onMoved = () => this.send();
    session.targets.length = 0;
    this.#target = end ? session.addTarget('aim', end.body, end.local) : null;
    this.app.viewport.handles.rebuild();
    this.app.selectTarget(end ? 0 : -1);
    const hint = end ? ': drag the goal, and the robot looks there' : '';
    this.app.notify(`Live at ${line.rate ?? 0} Hz${hint}.`, true);
  }

  /** The goal was dragged. */
  send(): void {
    if (this.#target && this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.send(JSON.stringify({ aim: this.#target.position }));
    }
  }
}
