// Structs of the library as the host sees them (web/src/structs.ts): name, kind and place of the members that it uses.
#include "glue.h"

#include "scenes/scenes.h"

// What a member is. The same list is in web/src/structs.ts.
typedef enum web_kind {
    KIND_NUMBER,
    KIND_INT, // enumerations, too
    KIND_FLAG,
    KIND_LONG,
    KIND_ADDRESS,
    KIND_TEXT,  // address of characters
    KIND_CHARS, // characters
    KIND_VEC3,
    KIND_QUAT,
    KIND_POSE,
    KIND_NUMBERS,
    KIND_SCALE,
    KIND_SOLVER
} web_kind;

typedef struct web_member {
    const char *name;
    int kind, offset, size;
} web_member;

typedef struct web_struct {
    int size, count;
    const web_member *members;
} web_struct;

// clang-format off
#define KIND_OF(pointer) _Generic((pointer), double *: KIND_NUMBER, int *: KIND_INT, unsigned *: KIND_INT, \
    bool *: KIND_FLAG, uint64_t *: KIND_LONG, const char **: KIND_TEXT, char (*)[POISE_ERROR_TEXT_SIZE]: KIND_CHARS, \
    char (*)[32]: KIND_CHARS, char (*)[64]: KIND_CHARS, poise_vec3 *: KIND_VEC3, poise_quat *: KIND_QUAT, \
    poise_pose *: KIND_POSE, double (*)[7]: KIND_NUMBERS, double (*)[2]: KIND_NUMBERS, poise_scale *: KIND_SCALE, \
    poise_solver_options *: KIND_SOLVER, default: KIND_ADDRESS)
// clang-format on

// One member of the struct that STRUCT is about.
#define M(member)                                                                                                           \
    {                                                                                                                       \
#member, KIND_OF(&((T *)0)->member), offsetof(T, member), sizeof((T *)0)->member                                    \
    }

// A function web_layout_... for the host.
#define STRUCT(type, ...)                                                                                                   \
    const web_struct *WEB_EXPORT(web_layout_##type)(void)                                                                   \
    {                                                                                                                       \
        typedef type T;                                                                                                     \
        static const web_member members[] = {__VA_ARGS__};                                                                  \
        static const web_struct layout = {sizeof(T), sizeof members / sizeof *members, members};                            \
        return &layout;                                                                                                     \
    }

STRUCT(poise_error, M(status), M(line), M(column), M(text))
STRUCT(poise_scale, M(metres), M(up))

// ---- Models --------------------------------------------------------------------------------------------------------------

STRUCT(poise_joint, M(name), M(body), M(parent), M(type), M(offset), M(axis), M(axis2), M(axes), M(order), M(lower),
       M(upper), M(swing), M(mimic), M(mimic_multiplier), M(mimic_offset), M(mass), M(mass_center))
STRUCT(poise_tool, M(name), M(body), M(pose))
STRUCT(poise_dh_row, M(a), M(alpha), M(d), M(theta), M(prismatic), M(lower), M(upper))
STRUCT(poise_model_summary, M(joints), M(tools), M(nq), M(nv), M(lower), M(upper))
STRUCT(poise_joint_info, M(name), M(body), M(type), M(parent), M(mimic), M(subtree), M(q), M(nq), M(v), M(nv), M(given))
STRUCT(poise_tool_info, M(name), M(body), M(pose))
STRUCT(poise_coordinate, M(joint), M(place), M(name), M(label), M(unit))
STRUCT(scene_marker, M(name), M(body), M(local))

// ---- Solving -------------------------------------------------------------------------------------------------------------

STRUCT(poise_goal, M(kind), M(body), M(body2), M(priority), M(weight), M(loss), M(loss_scale), M(tolerance), M(local),
       M(target), M(axis), M(direction), M(distance), M(rotation_weight), M(rotation_tolerance), M(q), M(q_before),
       M(q_weights), M(user))
STRUCT(poise_value, M(cost), M(gradient))
STRUCT(poise_goal_error, M(error), M(unit), M(rotation_error))
STRUCT(poise_goal_words, M(model), M(q_start))
STRUCT(poise_goal_list, M(count), M(goals))
STRUCT(poise_solver_options, M(method), M(engine), M(start), M(use_limits), M(max_iterations), M(restarts), M(seed),
       M(cost_tolerance), M(gradient_tolerance), M(position_tolerance), M(rotation_tolerance), M(prior), M(step_limit),
       M(damping), M(coupled_goals), M(locked), M(trace), M(trace_capacity), M(arm.seed_table), M(rows.max_rows),
       M(rows.clamp), M(lbfgs.memory), M(trust_region.band), M(trust_region.cg_tolerance), M(trust_region.cg_iterations),
       M(trust_region.nearest), M(constraints.rows), M(constraints.shapes), M(constraints.closure_tolerance))
STRUCT(poise_report, M(holds), M(blocking), M(blocking_item), M(outcome), M(reason), M(iterations), M(evaluations),
       M(restarts), M(traced), M(active_limits), M(moved_joints), M(start_cost), M(cost), M(gradient), M(distance),
       M(worst_length), M(worst_angle))
STRUCT(poise_trace, M(cost), M(gradient), M(damping), M(step), M(accepted), M(exact))

// ---- Expressive solving --------------------------------------------------------------------------------------------------

STRUCT(poise_erik_options, M(body), M(tip), M(orientation_weight), M(posture_weight), M(threshold), M(aggravation),
       M(max_iterations), M(max_sweeps), M(precision), M(stall), M(disturbance), M(window), M(tolerance),
       M(symmetric_endpoint), M(avoid_edges), M(offset_trick), M(ccd_trick), M(warm), M(gain), M(exact_orientation),
       M(restarts))
STRUCT(poise_erik_report, M(outcome), M(reason), M(iterations), M(followed), M(used_offset), M(used_ccd), M(exact), M(error),
       M(orientation), M(posture), M(angle), M(active_limits))
STRUCT(poise_erik_link, M(index), M(is_twister))
STRUCT(poise_erik_chain, M(count), M(links))
STRUCT(poise_expressive_options, M(mode), M(body), M(tip), M(goal_weight), M(posture_weight), M(threshold), M(aggravation),
       M(length_scale), M(symmetric_endpoint), M(warm), M(exact), M(gain), M(stride), M(inertia), M(searches),
       M(max_iterations), M(max_goals), M(coupled_goals), M(use_erik))
STRUCT(poise_expressive_report, M(outcome), M(error), M(goal), M(posture), M(worst_length), M(worst_angle), M(candidates),
       M(evaluations), M(kept_branch), M(is_on_the_way))
STRUCT(poise_filter_joint, M(lower), M(upper), M(velocity), M(acceleration), M(jerk), M(smoothness), M(responsiveness),
       M(soft), M(mode), M(length_unit))

// ---- Motion --------------------------------------------------------------------------------------------------------------

STRUCT(poise_clip, M(frames), M(nq), M(frame_time), M(start_time), M(q))
STRUCT(poise_markers, M(frames), M(count), M(rate), M(first_frame), M(scale), M(position), M(label))
STRUCT(poise_placement, M(label), M(body), M(local), M(weight))
STRUCT(poise_posture, M(name), M(q))
STRUCT(poise_track_problem, M(model), M(placements), M(placement_count), M(markers), M(q_start), M(solver), M(restarts),
       M(least_markers), M(robust), M(outlier), M(smoothness), M(posture), M(max_turn), M(chunk), M(task_frames))
STRUCT(poise_track_frame, M(flags), M(outcome), M(iterations), M(seen), M(let_go), M(rms), M(worst), M(turn))
STRUCT(poise_track_summary, M(distances), M(mean), M(rms), M(worst), M(worst_frame), M(worst_marker), M(held), M(jumps),
       M(outliers), M(restarts), M(gaps), M(mean_iterations), M(most_iterations))
STRUCT(poise_marker_error, M(seen), M(let_go), M(counted), M(mean), M(worst), M(worst_frame))
STRUCT(poise_retarget_problem, M(from), M(clip), M(from_scale), M(to), M(to_scale), M(pairs), M(pair_count), M(keep_size))
STRUCT(poise_retarget_report, M(points), M(factor), M(is_turned), M(scale))
STRUCT(poise_scale_match, M(from), M(markers_unknown), M(model_unknown), M(by_size), M(up_by_figure), M(turned_over))
STRUCT(poise_calibration, M(model), M(placements), M(placement_count), M(markers), M(frames), M(frame_count), M(q),
       M(solver), M(scaling), M(priors), M(noise), M(scale_prior), M(bone_deviation), M(rounds), M(tolerance))
STRUCT(poise_place_prior, M(place), M(axis), M(along), M(across), M(outward))
STRUCT(poise_places_report, M(placed), M(stature), M(size), M(pairs), M(up), M(model_up))
STRUCT(poise_calibration_report, M(frames), M(rounds), M(points), M(rms), M(mean), M(scale))

STRUCT(poise_figure, M(is_named), M(height), M(up), M(is_upside_down), M(metres))
STRUCT(poise_subject, M(name), M(markers), M(seen), M(is_whole))
STRUCT(poise_verdict, M(level), M(count))
STRUCT(poise_thresholds, M(doubtful))
STRUCT(poise_kept, M(broken))
STRUCT(poise_finding, M(kind), M(level), M(name), M(other), M(value), M(first), M(last), M(distance))
STRUCT(poise_overlap_problem, M(hulls), M(hull_count), M(shapes), M(shape_count), M(excluded), M(excluded_count), M(metres))
STRUCT(poise_edit_problem, M(model), M(before), M(after), M(pins), M(pin_count), M(results), M(report), M(overlap),
       M(unread), M(metres))
STRUCT(poise_kept_problem, M(model), M(clip), M(constraints), M(constraint_count), M(closure_tolerance))
STRUCT(poise_path_problem, M(model), M(q), M(poses), M(body), M(local), M(metres), M(frame_time), M(thresholds))
STRUCT(poise_recording_problem, M(only_placements), M(labels), M(from_scale), M(pairs), M(pair_count), M(keep_size),
       M(subject), M(first), M(last), M(rate), M(fit), M(calibration_frames), M(track.solver), M(track.restarts),
       M(track.least_markers), M(track.robust), M(track.outlier), M(track.smoothness), M(track.max_turn), M(track.chunk),
       M(whole), M(lag), M(sequence.knot), M(sequence.noise), M(velocity), M(acceleration), M(deviations), M(thresholds))
STRUCT(poise_recording_result, M(markers), M(placements), M(placement_count), M(scale), M(first), M(from_motion), M(match),
       M(named), M(fitted), M(calibrated), M(calibration), M(clip), M(frames), M(distances), M(by_marker), M(summary),
       M(deviation), M(verdict), M(findings))

STRUCT(poise_role_pair, M(from), M(to), M(confidence))
STRUCT(poise_role_map, M(role))
STRUCT(poise_retarget_task, M(from), M(clip), M(to), M(to_clip), M(from_up), M(to_up), M(map), M(shapes), M(shape_count),
       M(sole), M(feet), M(ground), M(velocity), M(use_limits), M(metres))
STRUCT(poise_retarget_outcome, M(roles), M(bodies), M(factor), M(same), M(planted), M(in_place), M(ground), M(soles_guessed),
       M(bone_mean), M(bone_worst), M(bone_role), M(bone_frame), M(hips_mean), M(hips_worst), M(contact), M(skate_mean),
       M(skate_worst), M(released), M(tipped), M(leg), M(sunk), M(jumps), M(outside), M(velocity), M(late), M(fast),
       M(fast_speed), M(fast_joint), M(fast_frame), M(abrupt), M(acceleration), M(loose), M(travel), M(has_bodies),
       M(metres), M(overlap))
STRUCT(poise_overlap, M(pairs), M(left_out), M(frames), M(pierced), M(depth), M(a), M(b), M(frame), M(buried),
       M(buried_body), M(buried_frame), M(buried_count))

STRUCT(poise_pin, M(goal), M(keys), M(key_count), M(from), M(to), M(fade_in), M(fade_out))
STRUCT(poise_pin_key, M(time), M(goal))
STRUCT(poise_pin_list, M(count), M(pins), M(texts))
STRUCT(poise_pin_options, M(locked), M(keep_feet), M(metres))
STRUCT(poise_pin_result, M(first), M(last), M(held_first), M(held_last), M(missed), M(worst_length), M(worst_angle),
       M(worst_frame))
STRUCT(poise_pin_report, M(frames), M(missed), M(snap_frame), M(snap_dof), M(iterations))
STRUCT(poise_feet_report, M(contacts))
STRUCT(poise_mirror_report, M(worst_angle))

// ---- Files ---------------------------------------------------------------------------------------------------------------

STRUCT(poise_read_options, M(format), M(name), M(model), M(positions), M(animation), M(floating), M(ignore_follower_limits),
       M(meshes), M(load))
STRUCT(poise_file, M(format), M(model), M(clip), M(markers), M(goals), M(goal_count), M(postures), M(posture_count),
       M(placements), M(placement_count), M(shapes), M(shape_count), M(hulls), M(hull_count), M(shapes_skipped), M(excluded),
       M(excluded_count), M(loops), M(loop_count), M(scale), M(carried), M(title), M(warnings), M(warning_count),
       M(warnings_dropped), M(motion))
STRUCT(poise_hull, M(body), M(corners), M(corner_count), M(radius), M(groups), M(against))
STRUCT(poise_shape, M(kind), M(body), M(pose), M(half), M(radius), M(groups), M(against))
STRUCT(poise_pair, M(a), M(b))
STRUCT(poise_pairs_options, M(neighbours), M(samples), M(always), M(often), M(margin), M(seed), M(excluded),
       M(excluded_count))
STRUCT(poise_close_pair, M(pair), M(room), M(nearest.distance), M(nearest.on_a), M(nearest.on_b))
STRUCT(poise_constraint, M(kind), M(body), M(body2), M(local), M(target), M(lower), M(upper), M(margin), M(shapes),
       M(shape_count), M(pairs), M(pair_count))
STRUCT(poise_edit, M(first), M(count), M(rate), M(assumed), M(scale), M(euler))
STRUCT(poise_warning, M(line), M(text))
STRUCT(poise_carried, M(text), M(channel_count), M(channel), M(samples), M(frames), M(analog), M(event_count), M(event),
       M(force_plates), M(rotations), M(meshes), M(animations))
STRUCT(poise_channel, M(label), M(unit), M(scale), M(offset))
STRUCT(poise_event, M(label), M(context), M(time))
