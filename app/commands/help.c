// poise help: topics, the table of commands, manual pages, completion for shells, then the command.
#include <poise/base.h>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "commands/commands.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const app_topic topic_formats = {
    .name = "formats",
    .summary = "file formats that can be read and written",
    .text = "A file's format is recognised by its content, or else by its name. Output formats follow the file "
            "extension. \"-\" is standard input or output.\n"
            "\n"
            "  extension    format              read                 write\n"
            "  .urdf        URDF                skeleton             -\n"
            "  .mjcf .xml   MJCF (MuJoCo)       skeleton             -\n"
            "  .bvh         BVH                 skeleton, motion     skeleton, motion\n"
            "  .asf         Acclaim skeleton    skeleton             skeleton\n"
            "  .amc         Acclaim motion      motion of an .asf    motion\n"
            "  .c3d         C3D                 markers              markers\n"
            "  .trc         TRC                 markers              markers\n"
            "  .mot .sto    MOT                 motion of a model    motion\n"
            "  .osim        OpenSim             skeleton, places     -\n"
            "  .gltf .glb   glTF 2.0            skeleton, motion     skeleton, motion\n"
            "  .csv         DH table            skeleton             chains of hinges\n"
            "  .csv         joint values        motion of a model    motion\n"
            "  .json        Poise               everything           everything\n"
            "\n"
            "AMC, MOT and joint values move a skeleton that is in another file: give it with --source-model. An AMC finds "
            "an ASF of its name beside it. A .csv of a command that makes a motion holds joint values, a row a frame; "
            "\"poise convert\" writes a DH table where there is no motion, or with --body.\n"
            "\n"
            "Poise's own JSON holds skeletons, motions, markers, goals, postures and the places of markers on bodies. "
            "\"poise convert scene:arm7 arm.json\" shows what it looks like.\n",
};

// ---- poise help goals ----------------------------------------------------------------------------------------------------

const app_topic topic_goals = {
    .name = "goals",
    .summary = "how to write goals",
    .text =
        "A goal is a line of words: what kind it is, a body or tool (by the name of a body, its joint or a tool), where "
        "it should be, and options. Points and directions are in the world, lengths in the units of the skeleton. An "
        "angle says its unit: deg or rad. Semicolons separate goals, commas count as spaces, and quotes keep a name with "
        "spaces together.\n"
        "\n"
        "  position BODY X Y Z                  a point of the body at a position\n"
        "    position hand 0.4 0.1 0.3 at 0 0 0.1\n"
        "  pose BODY X Y Z ROTATION             position and rotation\n"
        "    pose tip 0.4 0.1 0.3 rpy 0 90 0 deg\n"
        "  orientation BODY ROTATION            rotation only\n"
        "    orientation hand turn z 90 deg\n"
        "  direction BODY along X Y Z           an axis of the body along a direction\n"
        "    direction hand along 0 0 -1 axis x\n"
        "  aim BODY to X Y Z                    an axis of the body towards a point\n"
        "    aim head to 1 0 1.5 axis z\n"
        "  plane BODY through X Y Z normal X Y Z\n"
        "    plane foot through 0 0 0 normal z\n"
        "  line BODY through X Y Z along X Y Z\n"
        "    line tip through 0.3 0 0 along z\n"
        "  distance BODY D from X Y Z           at a distance from a point\n"
        "    distance hand 0.2 from 0 0 1\n"
        "  relative BODY to BODY2 X Y Z [ROTATION]\n"
        "                                       a position that moves with another body\n"
        "    relative left_hand to right_hand 0.3 0 0\n"
        "  balance X Y Z                        the centre of mass at a position\n"
        "    balance 0 0.9 0\n"
        "  posture NAME | FILE@FRAME | NUMBERS  all joints near a posture (soft)\n"
        "    posture neutral weight 0.01\n"
        "  stay                                 all joints near the start (soft)\n"
        "    stay weight 0.01\n"
        "\n"
        "A ROTATION is rpy R P Y deg (roll, pitch and yaw about the fixed axes x, y, z), turn AXIS ANGLE deg, or "
        "quaternion X Y Z W. An axis or direction is three numbers, or one of x y z -x -y -z.\n"
        "\n"
        "Options, after all that:\n"
        "\n"
        "  weight W             how much the goal counts against others; 1\n"
        "  rotation-weight W    of the rotation in pose and relative; 1\n"
        "  at X Y Z             which point of the body; its origin, or the tool\n"
        "  axis AXIS            which axis of the body, for direction and aim; z\n"
        "  tolerance T          an error that costs nothing, for position and pose;\n"
        "                       three numbers for x y z of the target, or free\n"
        "  rotation-tolerance A deg     the same for orientation and pose\n"
        "  priority N           0 comes first, the others with what is left\n"
        "  huber K              far goals pull with constant force; K a length\n"
        "  geman-mcclure K      goals farther off than K pull ever less: outliers\n"
        "\n"
        "For example an arm that may roll about the target's z axis:\n"
        "\n"
        "  pose tip 0.6 0 0.3 rpy 0 90 0 deg rotation-tolerance 0 0 free deg\n"
        "\n"
        "\"poise solve --goals FILE\" reads goals from a file, a line each; what follows a # is a comment.\n",
};

// ---- poise help markers --------------------------------------------------------------------------------------------------

const app_topic topic_markers = {
    .name = "markers",
    .summary = "how markers are placed on a skeleton by name",
    .text =
        "poise track places markers on the bodies of a human skeleton by their labels, with a table of the common sets: "
        "Plug-in Gait and its variants, Helen Hayes, CAST and clusters, OpenSim, OpenCap, OpenPose, HDM05, CMU and "
        "others. \"poise info markers:\" prints it. Calibration starts from these positions and stays near them.\n\n"
        "Case, punctuation and the subject's name are ignored, and the side may stand anywhere in a label: RKNE, R.Knee, "
        "Knee_R, RightKnee and Anna:RKNE are the same.\n\n"
        "--labels FILE adds your own table; its rows take precedence over the built-in ones. A row is one or more names "
        "without a side, then\n\n"
        "  PART FROM  ALONG FORWARD OUTWARD  DEVIATION DEVIATION\n\n"
        "  PART       head thorax pelvis clavicle upperarm forearm wrist hand thigh\n"
        "             shank foot; wrist is the end of the forearm at the hand\n"
        "  FROM       where on the bone the offset starts: 0 its origin, 1 its end.\n"
        "             The thorax starts between the shoulders, the pelvis at the\n"
        "             hip of the label's side, or between the hips\n"
        "  ALONG ...  offset in thousandths of the stature: head, trunk and\n"
        "             clavicle upward, forward, outward; limbs along the bone,\n"
        "             forward, outward; the foot forward, upward, outward\n"
        "  DEVIATION  expected deviation along the first axis, and across it\n\n"
        "\"KNE Knee thigh 0.98 0 -4 35 13 12\" puts RKNE and L.Knee on the thigh near its end, 35 thousandths of the "
        "stature outward. A name that ends in # matches any number there: TH#.\n\n"
        "\"set TITLE if LABEL... on BODY...\" restricts the rows below it to recordings that have all these labels and "
        "skeletons that have all these bodies. \"stiff NAME NAME\" says that two markers of one side keep their distance "
        "(one name twice: those of both sides), which tells the size of the person. A # at the start of a word begins a "
        "comment.\n",
};

// ---- poise help scenes ---------------------------------------------------------------------------------------------------

const app_topic topic_scenes = {
    .name = "scenes",
    .summary = "built-in skeletons and motions",
    .text = "Wherever a command takes a file, it also takes a built-in scene:\n"
            "\n"
            "  scene:arm7                    a skeleton with its postures and marker places\n"
            "  scene:humanoid/walk           a motion of it, and the markers that it makes\n"
            "  scene:humanoid/walk/noisy     the markers with noise, gaps and swapped labels\n"
            "\n"
            "\"poise info scene:\" lists the scenes. The humanoids have the motions walk, punch, kick and cartwheel. "
            "\"poise convert scene:humanoid-euler/walk walk.bvh\" makes a file of one.\n",
};

// ---- The table of commands, in the order of help, and the topics ---------------------------------------------------------

// one line for each
// clang-format off
const app_command *const app_commands[] = {
    &cmd_info,
    &cmd_convert,
    &cmd_edit,
    &cmd_fk,
    &cmd_solve,
    &cmd_track,
    &cmd_retarget,
    &cmd_aim,
    &cmd_scale,
    &cmd_warp,
    &cmd_stream,
    &cmd_reproduce,
    &cmd_bench,
    &cmd_view,
    &cmd_demo,
    &cmd_help,
    NULL,
};

const app_topic *const app_topics[] = {
    &topic_goals,
    &topic_formats,
    &topic_markers,
    &topic_scenes,
    NULL,
};
// clang-format on

const app_command *app_find_command(const char *name)
{
    for (int i = 0; app_commands[i]; ++i) {
        if (strcmp(app_commands[i]->name, name) == 0) {
            return app_commands[i];
        }
    }
    return NULL;
}

// ---- Manual pages, in the language of man (groff_man(7)) -----------------------------------------------------------------

// One line of running text: what roff would take for itself is escaped.
static void put_text(FILE *stream, const char *text, size_t size)
{
    if (size > 0 && (text[0] == '.' || text[0] == '\'')) {
        fputs("\\&", stream);
    }
    for (size_t i = 0; i < size; ++i) {
        if (text[i] == '\\') {
            fputs("\\e", stream);
        } else if (text[i] == '-') {
            fputs("\\-", stream);
        } else {
            fputc(text[i], stream);
        }
    }
}

// Columns before the lines from here on that are set as they are, such that the longest fits into 80.
static int margin_of(const char *text)
{
    enum { USUAL = 9, LINE = 79 };
    size_t longest = 0;
    for (; *text == ' ' || *text == '\n'; text += *text == '\n') {
        size_t size = strcspn(text, "\n");
        longest = size > longest ? size : longest;
        text += size;
    }
    return longest + USUAL <= LINE ? USUAL : longest < LINE ? LINE - (int)longest : 0;
}

// Paragraphs as print_wrapped takes them; lines that begin with a space are set as they are.
static void put_paragraphs(FILE *stream, const char *text)
{
    bool example = false;
    for (; *text; text += *text == '\n') {
        size_t size = strcspn(text, "\n");
        bool kept = text[0] == ' ';
        if (kept != example && size > 0) {
            if (kept) {
                fprintf(stream, ".PP\n.nf\n.in %dn\n", margin_of(text));
            } else {
                fputs(".in\n.fi\n.PP\n", stream);
            }
            example = kept;
        }
        if (size == 0 && !example) {
            fputs(".PP\n", stream);
        } else {
            put_text(stream, text, size);
            fputc('\n', stream);
        }
        text += size;
    }
    fputs(example ? ".in\n.fi\n" : "", stream);
}

static void put_line(FILE *stream, const char *text)
{
    put_text(stream, text, strlen(text));
}

static void put_options(FILE *stream, const app_option *options)
{
    for (; options && options->name; ++options) {
        if (options->is_old) {
            continue;
        }
        fputs(".TP\n", stream);
        if (options->letter) {
            fprintf(stream, "\\fB\\-%c\\fR, ", options->letter);
        }
        fputs("\\fB\\-\\-", stream);
        put_line(stream, options->name);
        fputs("\\fR", stream);
        if (options->value) {
            fprintf(stream, " \\fI%s\\fR", options->value);
        }
        fputc('\n', stream);
        char text[1024];
        help_of_option(text, sizeof text, options);
        put_line(stream, text);
        fputc('\n', stream);
    }
}

// Cut into lines first; escapes would count as columns.
static void put_example(FILE *stream, const char *command)
{
    text_file example;
    text_open(&example);
    help_example(example.stream, command, 0, 70, "\\");
    need(system_memory_close(&example));
    for (const char *line = example.text; *line; line += strcspn(line, "\n") + 1) {
        put_text(stream, line, strcspn(line, "\n"));
        fputc('\n', stream);
    }
    free(example.text);
}

static void put_title(FILE *stream, const char *name)
{
    fputs(".TH ", stream);
    for (const char *c = name; *c; ++c) {
        fputc(toupper((unsigned char)*c), stream);
    }
    fprintf(stream, " 1 \"\" \"poise %s\" \"Poise\"\n.SH NAME\n", poise_version());
}

static void put_command(FILE *stream, const app_command *command)
{
    char name[64];
    snprintf(name, sizeof name, "poise-%s", command->name);
    put_title(stream, name);
    put_line(stream, name);
    fputs(" \\- ", stream);
    put_line(stream, command->summary);
    fprintf(stream, "\n.SH SYNOPSIS\n\\fBpoise %s\\fR ", command->name);
    put_line(stream, command->synopsis);
    fputs(" [\\fIoptions\\fR]\n.SH DESCRIPTION\n", stream);
    put_paragraphs(stream, command->description);
    fputs(".SH OPTIONS\n", stream);
    put_options(stream, command->options);
    put_options(stream, arguments_common_options());
    if (command->examples) {
        fputs(".SH EXAMPLES\n", stream);
    }
    for (const app_example *e = command->examples; e && e->what; ++e) {
        fputs(".PP\n", stream);
        put_line(stream, e->what);
        fputs(":\n.PP\n.nf\n.RS 2\n", stream);
        put_example(stream, e->command);
        fputs(".RE\n.fi\n", stream);
    }
    fputs(".SH EXIT STATUS\n0: done; 1: a goal was not reached; 2: wrong use or input.\n.SH SEE ALSO\n\\fBpoise\\fR(1)\n",
          stream);
}

static void put_overview(FILE *stream)
{
    put_title(stream, "poise");
    fputs("poise \\- inverse kinematics, from skeletons and goals to joint angles\n.SH SYNOPSIS\n"
          "\\fBpoise\\fR \\fIcommand\\fR [\\fIoptions\\fR] ...\n.SH COMMANDS\n",
          stream);
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, ".TP\n\\fB%s\\fR\n", app_commands[i]->name);
        put_line(stream, app_commands[i]->summary);
        fputs("\n", stream);
    }
    for (int i = 0; app_topics[i]; ++i) {
        fputs(".SH ", stream);
        for (const char *c = app_topics[i]->name; *c; ++c) {
            fputc(toupper((unsigned char)*c), stream);
        }
        fputc('\n', stream);
        put_paragraphs(stream, app_topics[i]->text);
    }
    fputs(".SH EXIT STATUS\n0: done; 1: a goal was not reached; 2: wrong use or input.\n.SH SEE ALSO\n", stream);
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "\\fBpoise\\-%s\\fR(1)%s\n", app_commands[i]->name, app_commands[i + 1] ? "," : "");
    }
}

void help_manual(FILE *stream, const app_command *command)
{
    if (command) {
        put_command(stream, command);
    } else {
        put_overview(stream);
    }
}

// ---- Shell completion: scripts for bash and zsh --------------------------------------------------------------------------

static void put_names(FILE *stream)
{
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "%s%s", i > 0 ? " " : "", app_commands[i]->name);
    }
}

static void put_option_names(FILE *stream, const app_option *options)
{
    for (; options && options->name; ++options) {
        if (!options->is_old) {
            fprintf(stream, " --%s", options->name);
        }
    }
}

// After an option with a value: its choices, the postures of the skeleton in the line, or files.
static void put_bash_values(FILE *stream, const app_command *command)
{
    for (const app_option *o = command->options; o && o->name; ++o) {
        bool is_posture = o->value && strcmp(o->value, "POSTURE") == 0;
        if ((o->kind != OPTION_CHOICE && !is_posture) || o->is_old) {
            continue;
        }
        fprintf(stream, "    %s:--%s", command->name, o->name);
        for (const char *c = o->alias ? o->alias : ""; *c;) {
            int length = (int)strcspn(c, " ");
            fprintf(stream, "|%s:--%.*s", command->name, length, c);
            c += length + (c[length] == ' ');
        }
        if (o->letter) {
            fprintf(stream, "|%s:-%c", command->name, o->letter);
        }
        if (is_posture) {
            fputs(") words=\"neutral $(_poise_postures \"${all[@]}\")\" ;;\n", stream);
        } else {
            fprintf(stream, ") words=\"%s\" ;;\n", o->choices);
        }
    }
}

// What commands take as arguments that is neither a file nor known here: asked for when it is wanted. The same lines serve
// both shells; names are looked for in what people read.
static const char functions[] =
    "_poise_scenes() { poise info scene: --names scenes 2>/dev/null; }\n"
    "_poise_experiments() { poise reproduce 2>/dev/null | sed -n '2,/^$/s/ .*//p'; echo all; }\n"
    "_poise_suites() { poise bench --list 2>/dev/null | sed -n 's/^  \\([a-z][a-z0-9-]*\\) .*/\\1/p'; }\n"
    "# those of the first word that is a skeleton\n"
    "_poise_postures() {\n"
    "    local word found\n"
    "    for word in \"${@:3}\"; do\n"
    "        [ \"${word#-}\" = \"$word\" ] || continue\n"
    "        found=$(poise info \"$word\" --names postures 2>/dev/null)\n"
    "        [ -z \"$found\" ] || { echo \"$found\"; return; }\n"
    "    done\n"
    "}\n";

static void put_bash(FILE *stream)
{
    fputs("# Completion of poise for bash: source this file, or put it into bash-completion's folder as \"poise\".\n",
          stream);
    fputs(functions, stream);
    fputs("_poise() {\n"
          "    # bash cuts words at ':' and '='; here a word is what stands between spaces\n"
          "    local line=${COMP_LINE:0:COMP_POINT} words=\"\" i\n"
          "    local word=${line##*[[:space:]]}\n"
          "    local -a all\n"
          "    read -r -a all <<<\"${line%\"$word\"}\"\n"
          "    local before=${all[${#all[@]}-1]} command=${all[1]} cut=\"\"\n"
          "    case $COMP_WORDBREAKS in *:*) cut=${word%\"${word##*:}\"} ;; esac\n"
          "    if [ ${#all[@]} -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          stream);
    put_names(stream);
    fputs("\" -- \"$word\"))\n        return\n    fi\n    case \"$command:$before\" in\n", stream);
    for (int i = 0; app_commands[i]; ++i) {
        put_bash_values(stream, app_commands[i]);
    }
    fputs("    help:help) words=\"", stream);
    put_names(stream);
    for (int i = 0; app_topics[i]; ++i) {
        fprintf(stream, " %s", app_topics[i]->name);
    }
    fputs("\" ;;\n    esac\n"
          "    if [ -z \"$words\" ] && [ \"${word#-}\" != \"$word\" ]; then\n        case \"$command\" in\n",
          stream);
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "        %s) words=\"", app_commands[i]->name);
        put_option_names(stream, app_commands[i]->options);
        put_option_names(stream, arguments_common_options());
        fputs("\" ;;\n", stream);
    }
    fputs("        esac\n"
          "    elif [ -z \"$words\" ]; then\n"
          "        case \"$command\" in\n"
          "        reproduce) [ \"${before#-}\" != \"$before\" ] || words=$(_poise_experiments) ;;\n"
          "        bench) [ \"${before#-}\" != \"$before\" ] || words=$(_poise_suites) ;;\n"
          "        *) case $word in scene:*) words=$(_poise_scenes) ;; esac ;;\n"
          "        esac\n"
          "    fi\n"
          "    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "        for ((i = 0; i < ${#COMPREPLY[@]}; ++i)); do COMPREPLY[i]=${COMPREPLY[i]#\"$cut\"}; done\n"
          "    else\n"
          "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "        case scene: in\n"
          "        \"$word\"*)\n"
          "            COMPREPLY+=(scene:)\n"
          "            [ ${#COMPREPLY[@]} -gt 1 ] || compopt -o nospace 2>/dev/null ;;\n"
          "        esac\n"
          "    fi\n}\ncomplete -o filenames -F _poise poise\n",
          stream);
}

// Text inside single quotes and square brackets of _arguments.
static void put_quoted(FILE *stream, const char *text)
{
    for (; *text; ++text) {
        if (*text == '\'') {
            fputs("'\\''", stream);
        } else {
            if (strchr("[]:\\", *text)) {
                fputc('\\', stream);
            }
            fputc(*text, stream);
        }
    }
}

static void put_zsh_options(FILE *stream, const app_option *options)
{
    for (; options && options->name; ++options) {
        if (options->is_old) {
            continue;
        }
        fprintf(stream, "        '%s--%s[", options->repeats ? "*" : "", options->name);
        put_quoted(stream, options->help);
        fputs("]", stream);
        if (options->kind == OPTION_CHOICE) {
            fprintf(stream, ":%s:(%s)", options->value, options->choices);
        } else if (options->kind != OPTION_FLAG) {
            bool is_posture = strcmp(options->value, "POSTURE") == 0;
            fprintf(stream, ":%s:%s", options->value,
                    is_posture                       ? "_poise_put_postures"
                    : options->kind == OPTION_OUTPUT ? "_files"
                    : options->kind == OPTION_FILE   ? "_poise_put_files"
                                                     : "");
        }
        fputs("' \\\n", stream);
    }
}

static void put_zsh(FILE *stream)
{
    fputs("#compdef poise\n"
          "# Completion of poise for zsh: put this file into a folder of $fpath as \"_poise\".\n",
          stream);
    fputs(functions, stream);
    fputs("_poise_put_files() { case $PREFIX in scene:*) compadd -- ${(f)\"$(_poise_scenes)\"} ;; *) _files; compadd -S '' "
          "-- scene: ;; esac }\n"
          "_poise_put_postures() { compadd -- neutral ${(f)\"$(_poise_postures poise \"${words[@]}\")\"} }\n"
          "_poise_put_experiments() { compadd -- ${(f)\"$(_poise_experiments)\"} }\n"
          "_poise_put_suites() { compadd -- ${(f)\"$(_poise_suites)\"} }\n"
          "_poise() {\n    if (( CURRENT == 2 )); then\n        local -a commands=(\n",
          stream);
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "            '%s:", app_commands[i]->name);
        put_quoted(stream, app_commands[i]->summary);
        fputs("'\n", stream);
    }
    fputs("        )\n        _describe command commands\n        return\n    fi\n"
          "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n",
          stream);
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "    %s) _arguments \\\n", app_commands[i]->name);
        put_zsh_options(stream, app_commands[i]->options);
        put_zsh_options(stream, arguments_common_options());
        const char *name = app_commands[i]->name;
        fprintf(stream, "        '*:%s' ;;\n",
                strcmp(name, "reproduce") == 0 ? "experiment:_poise_put_experiments"
                : strcmp(name, "bench") == 0   ? "suite:_poise_put_suites"
                                               : "file:_poise_put_files");
    }
    fputs("    esac\n}\n_poise \"$@\"\n", stream);
}

bool help_completion(FILE *stream, const char *shell)
{
    if (strcmp(shell, "bash") == 0) {
        put_bash(stream);
        return true;
    }
    if (strcmp(shell, "zsh") == 0) {
        put_zsh(stream);
        return true;
    }
    return false;
}

// ---- poise help: pages, manual pages, shell completion -------------------------------------------------------------------

static const app_topic *find_topic(const char *name)
{
    for (int i = 0; app_topics[i]; ++i) {
        if (strcmp(app_topics[i]->name, name) == 0) {
            return app_topics[i];
        }
    }
    return NULL;
}

static const char *command_name(const void *user, int index)
{
    (void)user;
    return app_commands[index]->name;
}

void complain_of_command(const char *name)
{
    if (name[0] == '-') {
        char hint[96];
        did_you_mean("--help --version", name, hint, sizeof hint);
        complain("no option %s%s", name, hint[0] ? hint : "; try \"poise help\"");
        return;
    }
    int count = 0;
    while (app_commands[count]) {
        count += 1;
    }
    const char *near = poise_nearest_name(name, command_name, NULL, count);
    if (near) {
        complain("there is no command \"%s\"; did you mean \"%s\"?", name, near);
    } else {
        complain("there is no command \"%s\"; \"poise help\" lists them", name);
    }
}

void help_overview(FILE *stream)
{
    fprintf(stream, "poise %s: inverse kinematics, from skeletons and goals to joint angles\n\n", poise_version());
    help_head(stream, "Usage");
    fprintf(stream, "  poise COMMAND [OPTIONS] ...\n\n");
    help_head(stream, "Commands");
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "  %-13s %s\n", app_commands[i]->name, app_commands[i]->summary);
    }
    fprintf(stream, "\n");
    help_head(stream, "Help");
    fprintf(stream, "  %-13s how to use a command, with examples\n", "help COMMAND");
    for (int i = 0; app_topics[i]; ++i) {
        char name[32];
        snprintf(name, sizeof name, "help %s", app_topics[i]->name);
        fprintf(stream, "  %-13s %s\n", name, app_topics[i]->summary);
    }
}

// For programs that make menus or check examples.
static app_exit print_tables(void)
{
    json_node *commands = json_new(JSON_ARRAY);
    for (int i = 0; app_commands[i]; ++i) {
        const app_command *c = app_commands[i];
        json_node *options = json_new(JSON_ARRAY), *examples = json_new(JSON_ARRAY);
        for (const app_option *o = c->options; o && o->name; ++o) {
            if (!o->is_old) {
                json_append(options, json_make("{s:s, s:s, s:s}", "name", o->name, "value", o->value, "help", o->help));
            }
        }
        for (const app_example *e = c->examples; e && e->what; ++e) {
            json_append(examples, json_make("{s:s, s:s}", "what", e->what, "command", e->command));
        }
        json_append(commands, json_make("{s:s, s:s, s:s, s:o, s:o, s:b}", "name", c->name, "synopsis", c->synopsis,
                                        "summary", c->summary, "options", options, "examples", examples, "waits", c->waits));
    }
    json_node *topics = json_new(JSON_ARRAY);
    for (int i = 0; app_topics[i]; ++i) {
        json_append(topics, json_make("{s:s, s:s}", "name", app_topics[i]->name, "summary", app_topics[i]->summary));
    }
    return json_print(json_make("{s:o, s:o}", "commands", commands, "topics", topics)) ? APP_DONE : APP_BAD;
}

static app_exit run(const arguments *args)
{
    const char *name = arguments_at(args, 0), *shell = option_text(args, "completion", NULL);
    const app_command *command = name ? app_find_command(name) : NULL;
    const app_topic *topic = name ? find_topic(name) : NULL;
    if (shell) {
        help_completion(stdout, shell);
    } else if (name && !command && !topic) {
        complain_of_command(name);
        return APP_BAD;
    } else if (option_given(args, "manual")) {
        help_manual(stdout, command);
    } else if (arguments_json(args) && topic) {
        return json_print(json_make("{s:s, s:s, s:s}", "name", topic->name, "summary", topic->summary, "text", topic->text))
                   ? APP_DONE
                   : APP_BAD;
    } else if (arguments_json(args)) {
        return print_tables();
    } else if (command) {
        help_command(stdout, command);
    } else if (topic) {
        help_topic(stdout, topic);
    } else {
        help_overview(stdout);
    }
    return APP_DONE;
}

static const app_option options[] = {
    {"manual", .help = "print the page in man format"},
    {"completion", 0, OPTION_CHOICE, "SHELL", .choices = "bash zsh", .help = "print a completion script for a shell"},
    {0},
};

static const app_example examples[] = {
    {"How to write goals", "poise help goals"},
    {"Complete commands and options in this bash", "source <(poise help --completion bash)"},
    {0},
};

const app_command cmd_help = {
    .name = "help",
    .synopsis = "[COMMAND | TOPIC]",
    .most = 1,
    .summary = "explain a command or a topic",
    .description = "Without a name, lists all commands and topics.",
    .options = options,
    .examples = examples,
    .run = run,
};
