/** A problem as programs: C, TypeScript, Python, and a line for a shell. Each runs as it stands and prints the joint values. */
import type { Problem } from './problem.js';

const text = (words: string): string => JSON.stringify(words);
const shell = (words: string): string => `'${words.replaceAll("'", `'\\''`)}'`;

/** The file that C reads, which knows no scenes. */
export function fileOf({ source }: Problem): string {
  return 'file' in source ? source.file : `${source.scene.replaceAll(/[^\w-]+/g, '-')}.json`;
}

/** What a program that does not keep shapes apart says of it. */
const touching = ({ margin }: Problem, mark: string): string => (margin === null ? '' : `${mark} shapes are kept apart in the studio; here they may touch (the command has --avoid)\n`);

const sceneOf = ({ source }: Problem): string => ('scene' in source ? source.scene.split('/')[0]! : '');

export function shellText(problem: Problem): string {
  const { source, goals, q, method, locked, margin, isFreed } = problem;
  const lines = [
    `poise solve ${'file' in source ? shell(source.file) : `scene:${sceneOf(problem)}`}${isFreed ? ' --floating' : ''}`,
    ...goals.map((goal) => `--goal ${shell(goal)}`),
    ...locked.map((joint) => `--lock ${shell(joint)}`),
    ...(method === 'auto' ? [] : [`--method ${method}`]),
    ...(margin === null ? [] : [`--avoid --margin ${margin}`]),
    `--from ${shell(q.join(' '))}`,
  ];
  return `${lines.join(' \\\n    ')}\n`;
}

export function pythonText(problem: Problem): string {
  const { source, goals, q, method, locked, loops, isFreed } = problem;
  const options = `${method === 'auto' ? '' : `, method=${text(method)}`}${loops === 'open' ? ', loops=False' : ''}`;
  return `import poise

robot = ${'file' in source ? `poise.load(${text(source.file)}${isFreed ? ', floating=True' : ''})` : `poise.scene(${text(sceneOf(problem))})`}
goals = (
${goals.map((goal, i) => `    ${text(goal + (i + 1 < goals.length ? '; ' : ''))}`).join('\n')}
)
start = [${q.join(', ')}]
${locked.length > 0 ? `# ${locked.join(', ')}: locked in the studio, free here, where solve knows no locks\n` : ''}${touching(problem, '#')}q, report = robot.solve(goals, start${options})
print(report.outcome, *q)
`;
}

export function typeScriptText(problem: Problem): string {
  const { source, goals, q, method, lockedFreedoms, nv, loops, isFreed } = problem;
  const isFile = 'file' in source;
  const locked = lockedFreedoms.length > 0 ? [`locked: Array.from({ length: ${nv} }, (_, i) => [${lockedFreedoms.join(', ')}].includes(i))`] : [];
  const options = [...(method === 'auto' ? [] : [`method: '${method}'`]), ...locked, ...(loops === 'held' ? ['loops: new Loops(model, file.loops)'] : [])];
  const file = isFile ? `poise.read(await readFile(${text(source.file)}), { name: ${text(source.file)}${isFreed ? ', floating: true' : ''} })` : '';
  const read = loops === 'held' ? 'file.model!' : isFile ? `${file}.model!` : `poise.scene('${sceneOf(problem)}').model`;
  return `${isFile ? "import { readFile } from 'node:fs/promises';\n" : ''}import { load, ${loops === 'held' ? 'Loops, ' : ''}parseGoals, Solver } from 'poise-ik';

const poise = await load();
${loops === 'held' ? `const file = ${file};\n` : ''}const model = ${read};
const goals = parseGoals(model, [
${goals.map((goal) => `  ${text(goal)},`).join('\n')}
].join('; '));
const q = Float64Array.from([${q.join(', ')}]); // where to start; then the answer
${touching(problem, '//')}const solver = new Solver(model${options.length > 0 ? `, { ${options.join(', ')} }` : ''});
const report = solver.solve(goals, q);
console.log(report.outcome, ...q);
`;
}

/** A start of nq numbers needs no memory of its own; a file does. */
export function cText(problem: Problem): string {
  const { goals, q, method, lockedFreedoms, nv, loops, isFreed } = problem;
  const file = fileOf(problem);
  const made = 'scene' in problem.source ? `// ${file} comes from: poise convert scene:${sceneOf(problem)} ${file}\n` : '';
  const locked = lockedFreedoms.length > 0 ? `    const bool locked[${nv}] = {${lockedFreedoms.map((i) => `[${i}] = true`).join(', ')}};\n    options.locked = locked;\n` : '';
  const ofPapers = !['auto', 'levenberg_marquardt', 'priority'].includes(method); // else the solver's own
  const engine = ofPapers ? '    options.engine = poise_papers_engine(options.method);\n' : '';
  const chosen = method === 'auto' ? '' : `    options.method = POISE_METHOD_${method.toUpperCase()};\n${engine}`;
  const solve = loops === 'held'
    ? 'poise_solve_within(solver, goals->goals, goals->count, file->loops, file->loop_count, q, &report, &error)'
    : 'poise_solve(solver, goals->goals, goals->count, q, &report, &error)';
  const room = loops === 'held' ? `    if (file) { // loops of the skeleton, which the answer closes
        options.constraints.closure_tolerance = POISE_CLOSURE_OF_FILES;
        poise_constraints_size(file->loops, file->loop_count, &options.constraints);
    }
` : '';
  return `// cc solve.c $(pkg-config --cflags --libs ${ofPapers ? 'poise_papers poise_io' : 'poise_io'}) -lm -o solve
${made}#include <poise/io.h>
${ofPapers ? '#include <poise/papers.h>\n' : ''}#include <poise/poise.h>

#include <stdio.h>
#include <stdlib.h>

static poise_file *read_file(const char *name, poise_error *error)
{
    FILE *stream = fopen(name, "rb");
    poise_file *file = NULL;
    if (stream && fseek(stream, 0, SEEK_END) == 0) {
        size_t size = (size_t)ftell(stream);
        char *bytes = malloc(size + 1);
        rewind(stream);
        if (bytes && fread(bytes, 1, size, stream) == size) {
            poise_read(bytes, size, &(poise_read_options){.name = name${isFreed ? ', .floating = true' : ''}}, NULL, &file, error);
        }
        free(bytes);
        fclose(stream);
    }
    return file;
}

int main(void)
{
    poise_error error = {.text = "cannot be read"};
    poise_file *file = read_file(${text(file)}, &error);
    poise_goal_list *goals = NULL;
    poise_solver *solver = NULL;
    poise_solver_options options = poise_solver_options_default();
${chosen}${locked}${room}${touching(problem, '    //')}    double q[${q.length}] = {${q.join(', ')}}; // where to start; then the answer
    poise_report report = {.outcome = POISE_OUTCOME_COUNT};
    if (!file || poise_goal_list_create(NULL, &goals, &error) ||
        poise_goal_list_parse(goals, &(poise_goal_words){.model = file->model},
${goals.map((goal, i) => `                              ${text(goal + (i + 1 < goals.length ? '; ' : ''))}`).join('\n')},
                              &error) ||
        poise_solver_create(file->model, &options, NULL, &solver, &error) ||
        ${solve}) {
        fprintf(stderr, "%s\\n", error.text);
        return 1;
    }
    printf("%s", poise_outcome_name(report.outcome));
    for (int i = 0; i < ${q.length}; ++i) {
        printf(" %.9g", q[i]);
    }
    printf("\\n");
    poise_solver_destroy(solver);
    poise_goal_list_destroy(goals);
    poise_file_destroy(file);
    return report.outcome == POISE_OUTCOME_REACHED ? 0 : 1;
}
`;
}
