"""True statements about one step of a map or the velocity of a flow, with the formulas of the systems written out."""

import numpy as np


def normalised(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def mean_field(x):
    """The raw step of the Oja map: x_i + alpha V mean(x)."""
    return x.tokens + x.alpha * (x.tokens.mean(axis=0) @ x.V.T)


# --- Oja map ---------------------------------------------------------------------------------------------------------


def next_state(x):
    """The definition."""
    return np.allclose(normalised(mean_field(x)), x.advance())


def next_state_on_the_sphere(x):
    """Normalised tokens."""
    return np.allclose((x.advance() ** 2).sum(axis=1), 1)


def next_state_at_most_one(x):
    """Normalised tokens, without a tolerance."""
    return (np.linalg.norm(x.advance(), axis=1) <= 1).all()


def in_the_direction_of_the_raw_step(x):
    """<y, y/|y|> = |y| > 0."""
    return (np.sum(mean_field(x) * x.advance(), axis=1) > 0).all()


def at_most_two_away(x):
    """Two points of the sphere."""
    return np.linalg.norm(x.advance() - x.tokens, axis=1).max() <= 2


def raw_step_from_above(x):
    """|x + alpha V m| <= 1 + alpha |V|."""
    return (np.linalg.norm(mean_field(x), axis=1) <= 1 + x.alpha * np.linalg.norm(x.V, 2)).all()


def raw_step_from_below(x):
    """|x + alpha V m| >= 1 - alpha |V|."""
    return (np.linalg.norm(mean_field(x), axis=1) >= 1 - x.alpha * np.linalg.norm(x.V, 2)).all()


def differences_are_kept(x):
    """All tokens are pushed alike."""
    raw = mean_field(x)
    return np.allclose(raw[0] - raw[-1], x.tokens[0] - x.tokens[-1])


OJA_MAP = (
    next_state,
    next_state_on_the_sphere,
    next_state_at_most_one,
    in_the_direction_of_the_raw_step,
    at_most_two_away,
    raw_step_from_above,
    raw_step_from_below,
    differences_are_kept,
)


# --- attention map ---------------------------------------------------------------------------------------------------


def attended(x):
    """The raw step x_i + alpha V sum_j a_ij x_j."""
    return x.tokens + x.alpha * (x.attention() @ x.tokens) @ x.V.T


def next_state_of_attention(x):
    """The definition."""
    return np.allclose(normalised(attended(x)), x.advance())


def attention_on_the_sphere(x):
    """Normalised tokens."""
    return (np.abs(np.linalg.norm(x.advance(), axis=1) - 1) <= 1e-12).all()


def averages_in_the_ball(x):
    """An average of unit vectors."""
    return (np.linalg.norm(x.attention() @ x.tokens, axis=1) <= 1).all()


def averages_in_the_box(x):
    """An average lies between the smallest and the largest coordinate."""
    mean = x.attention() @ x.tokens
    return (mean.max(axis=0) <= x.tokens.max(axis=0)).all() and (mean.min(axis=0) >= x.tokens.min(axis=0)).all()


def weights_by_hand(x):
    """The softmax of the scores, written out."""
    scores = np.exp(x.tokens @ x.M @ x.tokens.T)
    return np.allclose(scores / scores.sum(axis=1, keepdims=True), x.attention())


def weights_by_hand_exactly(x):
    """The same, without a tolerance, for the first row."""
    scores = np.exp(x.tokens[0] @ x.M @ x.tokens.T)
    return (scores / np.sum(scores) <= x.attention()[0]).all()


def logits(x):
    """log(a_ij / a_ik) = x_i^T M (x_j - x_k)."""
    A, X = x.attention(), x.tokens
    return np.isclose(np.log(A[0, 0]) - np.log(A[0, -1]), X[0] @ x.M @ (X[0] - X[-1]))


ATTENTION_MAP = (
    next_state_of_attention,
    attention_on_the_sphere,
    averages_in_the_ball,
    averages_in_the_box,
    weights_by_hand,
    weights_by_hand_exactly,
    logits,
)


# --- several heads ---------------------------------------------------------------------------------------------------


def push_of_the_heads(x):
    return sum((x.attention(h) @ x.tokens) @ head.F.T for h, head in enumerate(x.heads))


def next_state_of_heads(x):
    """The definition."""
    return np.allclose(normalised(x.tokens + x.alpha * push_of_the_heads(x)), x.advance())


def rows_of_each_head(x):
    """Every head is a softmax."""
    return all(np.allclose(x.attention(h).sum(axis=1), 1) for h in range(len(x.heads)))


def mean_of_the_heads(x):
    """The mean of stochastic matrices is stochastic."""
    mean = sum(x.attention(h) for h in range(len(x.heads))) / len(x.heads)
    return (mean.sum(axis=1) <= 1 + 1e-12).all() and (mean.mean(axis=1) <= 1 / x.n).all()


def heads_push_at_most(x):
    """|sum_h F_h m_h| <= sum_h |F_h|."""
    return np.linalg.norm(push_of_the_heads(x), axis=1).max() <= sum(np.linalg.norm(h.F, 2) for h in x.heads) + 1e-9


MULTIHEAD_MAP = (next_state_of_heads, rows_of_each_head, mean_of_the_heads, heads_push_at_most)


def velocity_of_heads(x):
    """The definition of the flow."""
    push = push_of_the_heads(x)
    return np.allclose(push - np.sum(x.tokens * push, axis=1, keepdims=True) * x.tokens, x.advance())


def heads_are_tangent(x):
    """The sphere is kept."""
    return (np.abs(np.sum(x.tokens * x.advance(), axis=1)) <= 1e-9).all()


MULTIHEAD_FLOW = (velocity_of_heads, heads_are_tangent, rows_of_each_head, mean_of_the_heads)


# --- flows on the sphere ---------------------------------------------------------------------------------------------


def oja_velocity(x):
    """V m - <x_i, V m> x_i."""
    push = x.V @ x.tokens.mean(axis=0)
    return np.allclose(push - np.outer(x.tokens @ push, np.ones(x.d)) * x.tokens, x.advance())


def tangent(x):
    """The velocity is orthogonal to the token."""
    return np.allclose(np.sum(x.advance() * x.tokens, axis=1), 0)


def tangent_exactly(x):
    """The same, without a tolerance."""
    return (np.sum(x.advance() * x.tokens, axis=1) == 0).all()


def speed(x):
    """|velocity| <= |V|."""
    return np.linalg.norm(x.advance(), axis=1).max() <= np.linalg.norm(x.V, 2) + 1e-9


def tangent_part_is_shorter(x):
    """A projection does not lengthen."""
    push = x.V @ x.tokens.mean(axis=0)
    return (np.linalg.norm(x.advance(), axis=1) <= np.linalg.norm(push)).all()


OJA_FLOW = (oja_velocity, tangent, tangent_exactly, speed, tangent_part_is_shorter)


def energy_grows(x):
    """d/dt (m^T V m)/2 = mean(|V m|^2 - <x_i, V m>^2) >= 0 for a symmetric V; zero at equilibria."""
    m = x.tokens.mean(axis=0)
    return m @ x.V @ x.advance().mean(axis=0) >= 0


def energy_rate(x):
    """The same as an identity."""
    push = x.V @ x.tokens.mean(axis=0)
    return np.isclose(push @ x.advance().mean(axis=0), push @ push - np.mean((x.tokens @ push) ** 2))


OJA_FLOW_SYMMETRIC = (energy_grows, energy_rate)


def attention_velocity(x):
    """V m_i - <x_i, V m_i> x_i."""
    push = (x.attention() @ x.tokens) @ x.V.T
    return np.allclose(push - np.sum(push * x.tokens, axis=1)[:, None] * x.tokens, x.advance())


ATTENTION_FLOW = (attention_velocity, tangent, tangent_exactly, speed)


def rests(x):
    """Equal tokens at an eigenvector rest."""
    return x.is_equilibrium()


def rests_by_velocity(x):
    """The same, by the velocity."""
    return np.abs(x.advance()).max() <= 1e-12


REST_OF_FLOWS = (rests, rests_by_velocity)


def stays(x):
    """Equal tokens at an eigenvector with 1 + alpha lambda > 0 are fixed."""
    return x.is_equilibrium() and np.allclose(x.advance(), x.tokens)


REST_OF_MAPS = (stays,)


# --- ellipsoids ------------------------------------------------------------------------------------------------------


def on_the_ellipsoid(x):
    """x^T P x = 1."""
    return np.allclose(np.einsum("ni,ij,nj->n", x.tokens, x.P, x.tokens), 1)


def on_the_ellipsoid_at_most(x):
    """x^T P x = 1, without a tolerance."""
    return (np.sum((x.tokens @ x.P) * x.tokens, axis=1) <= 1).all()


def metric_tangent(x):
    """x^T P x' = 0."""
    return np.allclose(np.sum((x.tokens @ x.P) * x.advance(), axis=1), 0)


def ellipsoid_velocity(x):
    """u_i - (x_i^T P u_i) x_i with u_i = sum_j a_ij x_j."""
    push = x.attention() @ x.tokens
    return np.allclose(push - np.sum((x.tokens @ x.P) * push, axis=1)[:, None] * x.tokens, x.advance())


ELLIPSOID_FLOW = (on_the_ellipsoid, on_the_ellipsoid_at_most, metric_tangent, ellipsoid_velocity)


def metric_of_heads(x):
    """x^T W x = 1."""
    return np.allclose(np.sum((x.tokens @ x.W) * x.tokens, axis=1), 1)


def velocity_in_the_metric(x):
    """x^T W x' = 0."""
    return np.allclose(np.sum((x.tokens @ x.W) * x.advance(), axis=1), 0)


def step_in_the_metric(x):
    """The next state is on the ellipsoid."""
    new = x.advance()
    return np.allclose(np.sum((new @ x.W) * new, axis=1), 1)


def rows_over_root_d(x):
    """Every head sums to 1/sqrt(d)."""
    return all(np.allclose(x.attention(h).sum(axis=1) * np.sqrt(x.d), 1) for h in range(len(x.heads)))


ELLIPSOID_HEADS_FLOW = (metric_of_heads, velocity_in_the_metric, rows_over_root_d)
ELLIPSOID_HEADS_MAP = (metric_of_heads, step_in_the_metric, rows_over_root_d)


# --- causal, Euclidean, rotary ---------------------------------------------------------------------------------------


def first_token_by_itself(x):
    """u_1 = U x_1 / sqrt(d)."""
    first = x.tokens[0]
    push = x.U @ first / np.sqrt(x.d)
    return np.allclose(push - (first @ push) * first, x.advance()[0])


def causal_weights(x):
    """Nothing ahead; the first weight is 1/sqrt(d)."""
    A = x.attention()
    return np.allclose(np.triu(A, 1), 0) and np.isclose(A[0, 0] ** 2, 1 / x.d)


def causal_tangent(x):
    """The sphere is kept."""
    return (np.abs(np.sum(x.tokens * x.advance(), axis=1)) <= 1e-9).all()


CAUSAL_FLOW = (first_token_by_itself, causal_weights, causal_tangent)


def euclidean_velocity(x):
    """x_i' = B sum_j a_ij x_j."""
    return np.allclose((x.attention() @ x.tokens) @ x.B.T, x.advance())


def euclidean_hull(x):
    """Averages lie between the extremes of each coordinate."""
    mean = x.attention() @ x.tokens
    return (mean <= x.tokens.max(axis=0)).all() and (mean >= x.tokens.min(axis=0)).all()


def euclidean_speed(x):
    """|x'| <= |B| max |x|."""
    largest = np.linalg.norm(x.tokens, axis=1).max()
    return np.linalg.norm(x.advance(), axis=1).max() <= np.linalg.norm(x.B, 2) * largest + 1e-9


TOKEN_FLOW = (euclidean_velocity, euclidean_hull, euclidean_speed)


def rotary_rows(x):
    """A softmax, whatever the scores."""
    A = x.attention()
    return np.allclose(A.sum(axis=1), 1) and (A.mean(axis=1) <= 1 / x.n).all()


def rotary_velocity(x):
    """x_i' = B sum_j a_ij x_j."""
    return np.allclose((x.attention() @ x.tokens) @ x.B.T, x.advance())


ROTARY_FLOW = (rotary_rows, rotary_velocity)
