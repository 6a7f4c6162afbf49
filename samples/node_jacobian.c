// The Jacobian of a tree of ball joints from the derivatives of their rotation matrices, by a transform stack, as the
// supplement to Grassia, "Practical Parameterization of Rotations Using the Exponential Map" (1998), has it.
//
// An end effector at e in the frame of node n has the world position
//
//   F = T_0 R_0 T_1 R_1 ... T_n R_n e              T_i the node's place in its parent, R_i = exp(v_i)
//
// so its derivative by component j of v_i puts one matrix in place of another:
//
//   dF / dv_ij = (T_0 R_0 ... T_i) (dR_i/dv_ij) (T_i+1 R_i+1 ... T_n R_n e)
//                 the stack         concatenated   the effector in the frame of node i
//
// Every node works out its own three columns for all effectors below it. The library multiplies no derivative matrices: it
// has the columns in closed form from the motion axes. The program compares the two and exits with 0 when they agree.
#include <poise/poise.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NODES = 7, EFFECTORS = 3, DOFS = 3 * NODES, ROWS = 3 * EFFECTORS, DEPTH = 16 };

// ---- The transform stack -------------------------------------------------------------------------------------------------

typedef struct transform_stack {
    double matrix[DEPTH][4][4]; // the last one is current; columns of a matrix multiply points (x, y, z, 1)
    int top;
} transform_stack;

static void stack_reset(transform_stack *stack)
{
    memset(stack, 0, sizeof *stack);
    for (int i = 0; i < 4; ++i) {
        stack->matrix[0][i][i] = 1;
    }
}

static void stack_push(transform_stack *stack)
{
    memcpy(stack->matrix[stack->top + 1], stack->matrix[stack->top], sizeof stack->matrix[0]);
    ++stack->top;
}

static void stack_pop(transform_stack *stack)
{
    --stack->top;
}

// current <- current * [A t ; 0 corner], A row-major
static void stack_concat(transform_stack *stack, const double A[9], poise_vec3 t, double corner)
{
    const double B[4][4] = {{A[0], A[1], A[2], t.x}, {A[3], A[4], A[5], t.y}, {A[6], A[7], A[8], t.z}, {0, 0, 0, corner}};
    double(*M)[4] = stack->matrix[stack->top];
    for (int row = 0; row < 4; ++row) {
        double old[4] = {M[row][0], M[row][1], M[row][2], M[row][3]};
        for (int column = 0; column < 4; ++column) {
            M[row][column] = old[0] * B[0][column] + old[1] * B[1][column] + old[2] * B[2][column] + old[3] * B[3][column];
        }
    }
}

static void stack_translate(transform_stack *stack, poise_vec3 t)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    stack_concat(stack, identity, t, 1);
}

static poise_vec3 stack_transform(const transform_stack *stack, poise_vec3 p)
{
    const double(*M)[4] = stack->matrix[stack->top];
    return poise_vec3_make(M[0][0] * p.x + M[0][1] * p.y + M[0][2] * p.z + M[0][3],
                           M[1][0] * p.x + M[1][1] * p.y + M[1][2] * p.z + M[1][3],
                           M[2][0] * p.x + M[2][1] * p.y + M[2][2] * p.z + M[2][3]);
}

// ---- The tree ------------------------------------------------------------------------------------------------------------

typedef struct node {
    const char *name;
    int parent;             // index of an earlier node; POISE_WORLD for the root
    poise_vec3 translation; // of the joint in its parent's frame
    poise_vec3 v;           // the joint's rotation; changes when it is reparameterised
} node;

typedef struct effector {
    int body;          // the node it is fixed to
    poise_vec3 coords; // in that node's frame at first; in the frame of the current node during the traversal
} effector;

// A trunk with a head and two arms. The chest has turned beyond pi, so its vector will be reparameterised.
static node tree[NODES] = {
    {"pelvis", POISE_WORLD, {0.1, -0.2, 0.9}, {0.2, -0.1, 0.4}},
    {"chest", 0, {0, 0, 0.3}, {2.1, -2.2, 1.9}},
    {"head", 1, {0, 0.02, 0.35}, {0.5, 0.3, -0.2}},
    {"upper arm left", 1, {0.2, 0, 0.25}, {-0.7, 1.1, 0.3}},
    {"forearm left", 3, {0.3, 0, 0}, {0, 0, 1e-9}},
    {"upper arm right", 1, {-0.2, 0, 0.25}, {0.9, -1.4, 0.8}},
    {"forearm right", 5, {-0.3, 0, 0}, {0, 2.4, 0}},
};
static const effector tips[EFFECTORS] = {{2, {0, 0.05, 0.2}}, {4, {0.25, 0, 0.01}}, {6, {-0.25, 0, 0.01}}};

static int is_below(int body, int ancestor)
{
    while (body != POISE_WORLD && body != ancestor) {
        body = tree[body].parent;
    }
    return body == ancestor;
}

// Write the three columns of node i for the effectors below it, whose coords are in its frame. The stack holds the combined
// transform of the nodes above i, and does so again at the end.
static void node_contribution(double jacobian[ROWS][DOFS], transform_stack *stack, int i, const poise_expmap *map,
                              const effector effectors[EFFECTORS])
{
    static const poise_vec3 zero = {0, 0, 0};
    stack_push(stack);
    stack_translate(stack, tree[i].translation);
    for (int j = 0; j < 3; ++j) {
        double dR[9];
        poise_quat_partial(map->q, map->dq[j], dR);
        stack_push(stack);
        stack_concat(stack, dR, zero, 0); // the derivative of the constant corner is 0: the translation above drops out
        for (int e = 0; e < EFFECTORS; ++e) {
            if (is_below(effectors[e].body, i)) {
                poise_vec3 column = stack_transform(stack, effectors[e].coords);
                jacobian[3 * e][3 * i + j] = column.x;
                jacobian[3 * e + 1][3 * i + j] = column.y;
                jacobian[3 * e + 2][3 * i + j] = column.z;
            }
        }
        stack_pop(stack);
    }
    stack_pop(stack);
}

// Visit node i and all below it. Each effector below i comes back in the frame of i's parent.
static void visit(double jacobian[ROWS][DOFS], transform_stack *stack, int i, effector effectors[EFFECTORS])
{
    static const poise_vec3 zero = {0, 0, 0};
    poise_expmap map; // sine, cosine and the quaternion's derivatives: once for R and all three dR
    if (poise_expmap_make(tree[i].v, &map, NULL) != POISE_OK) {
        return;
    }
    tree[i].v = map.v; // the state follows when the vector was reparameterised
    if (map.reparameterised) {
        printf("%s: reparameterised to |v| = %.3f\n", tree[i].name, map.theta);
    }
    double R[9];
    poise_quat_to_matrix(map.q, R);
    stack_push(stack);
    stack_translate(stack, tree[i].translation);
    stack_concat(stack, R, zero, 1);
    for (int child = i + 1; child < NODES; ++child) {
        if (tree[child].parent == i) {
            visit(jacobian, stack, child, effectors);
        }
    }
    stack_pop(stack);
    node_contribution(jacobian, stack, i, &map, effectors);

    transform_stack joint;
    stack_reset(&joint);
    stack_translate(&joint, tree[i].translation);
    stack_concat(&joint, R, zero, 1);
    for (int e = 0; e < EFFECTORS; ++e) {
        if (is_below(effectors[e].body, i)) {
            effectors[e].coords = stack_transform(&joint, effectors[e].coords);
        }
    }
}

// ---- The same in the library ---------------------------------------------------------------------------------------------

static poise_status make_model(poise_model **model)
{
    poise_builder *builder = NULL;
    poise_status status = poise_builder_create(NULL, &builder, NULL);
    for (int i = 0; i < NODES && status == POISE_OK; ++i) {
        poise_joint joint = poise_joint_default();
        joint.type = POISE_JOINT_BALL_EXPMAP;
        joint.name = tree[i].name;
        joint.parent = tree[i].parent == POISE_WORLD ? NULL : tree[tree[i].parent].name;
        joint.offset.position = tree[i].translation;
        status = poise_builder_add_joint(builder, &joint, NULL);
    }
    if (status == POISE_OK) {
        status = poise_model_create(builder, NULL, model, NULL);
    }
    poise_builder_destroy(builder);
    return status;
}

// The largest difference between `jacobian` and the library's. The tree is in depth-first order, so indices are the same.
static double compare(const poise_kinematics *kinematics, double jacobian[ROWS][DOFS])
{
    double worst = 0;
    for (int e = 0; e < EFFECTORS; ++e) {
        double J[3][DOFS];
        if (poise_kinematics_jacobian(kinematics, tips[e].body, tips[e].coords, J[0], NULL, NULL) != POISE_OK) {
            return INFINITY;
        }
        for (int row = 0; row < 3; ++row) {
            for (int column = 0; column < DOFS; ++column) {
                worst = fmax(worst, fabs(J[row][column] - jacobian[3 * e + row][column]));
            }
        }
    }
    return worst;
}

int main(void)
{
    double jacobian[ROWS][DOFS] = {{0}}, q[DOFS], worst = INFINITY;
    effector effectors[EFFECTORS];
    transform_stack stack;
    memcpy(effectors, tips, sizeof effectors);
    stack_reset(&stack);
    visit(jacobian, &stack, 0, effectors);

    for (int i = 0; i < NODES; ++i) {
        q[3 * i] = tree[i].v.x;
        q[3 * i + 1] = tree[i].v.y;
        q[3 * i + 2] = tree[i].v.z;
    }
    poise_model *model = NULL;
    poise_kinematics *kinematics = NULL;
    if (make_model(&model) == POISE_OK && poise_kinematics_create(model, NULL, &kinematics, NULL) == POISE_OK &&
        poise_kinematics_update(kinematics, q, NULL) == POISE_OK) {
        worst = compare(kinematics, jacobian);
    }
    printf("%d x %d Jacobian, transform stack against motion axes: largest difference %.1e\n", ROWS, DOFS, worst);
    poise_kinematics_destroy(kinematics);
    poise_model_destroy(model);
    return worst <= 1e-12 ? 0 : 1;
}
