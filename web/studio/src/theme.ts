/** Colours, dark and light. The page's own are in style.css; these are for what is drawn on canvases. */
export interface Colours {
  stage: string;
  /** Behind the middle of the stage. */
  glow: string;
  grid: string;
  /** Lines behind a plot. */
  rule: string;
  /** How dark the shadow on the floor is, from 0 to 1. */
  shadow: number;
  bone: string;
  ball: string;
  tip: string;
  picked: string;
  target: string;
  marker: string;
  limit: string;
  /** Of the gizmo: x, y, z. */
  axes: readonly [string, string, string];
  text: string;
  faint: string;
  /** As many as there are methods. */
  series: readonly string[];
}

// Colour-blind safe (Okabe & Ito 2008), darkened for a light ground.
const light: Colours = {
  stage: '#e2e6ec',
  glow: '#f1f3f7',
  grid: '#a9b1be',
  rule: '#dde1e7',
  shadow: 0.26,
  bone: '#9aa7b8',
  ball: '#5d6b7e',
  tip: '#3b4754',
  picked: '#e69f00',
  target: '#0072b2',
  marker: '#009e73',
  limit: '#cc79a7',
  axes: ['#d1433f', '#3f9142', '#2f6fd0'],
  text: '#1d2430',
  faint: '#8a93a2',
  series: [
    '#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#56a0c9', '#555555', '#7a5cc0',
    '#8b1e3f', '#4b7f1e', '#00838f', '#a0522d', '#e0218a', '#1a237e', '#7d8c00', '#9e9e9e',
  ],
};

const dark: Colours = {
  stage: '#12161c',
  glow: '#2b333f',
  grid: '#5a6677',
  rule: '#2b333e',
  shadow: 0.5,
  bone: '#8793a5',
  ball: '#b9c3d1',
  tip: '#dfe5ec',
  picked: '#ffb627',
  target: '#56b4e9',
  marker: '#2fd6a3',
  limit: '#e58ac0',
  axes: ['#ff6b66', '#6fd072', '#6aa5ff'],
  text: '#e7ebf1',
  faint: '#7b8696',
  series: [
    '#56b4e9', '#ff8c42', '#2fd6a3', '#e58ac0', '#f0d25a', '#9fb7ff', '#b9c3d1', '#c59bff',
    '#ff6f7d', '#a4d65e', '#3fd0d8', '#d9a066', '#ff5fc4', '#5c7cff', '#d6e04a', '#7b8696',
  ],
};

export type Theme = 'light' | 'dark';

const KEY = 'poise-studio-theme';

/** What the user chose last, or what the system prefers. */
export function firstTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept === 'light' || kept === 'dark') {
      return kept;
    }
  } catch {
    // no storage: the system's choice will do
  }
  return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
}

export function applyTheme(theme: Theme): Colours {
  document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // not kept
  }
  return theme === 'light' ? light : dark;
}
