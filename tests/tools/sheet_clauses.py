"""The three sheets (clusters, bounds, new results), clause by clause: where each is in the registry.

A line is ``clause | where``.  ``where`` lists what shows it, of the statement of the heading, or of one that is named:
``claim 2`` (its second claim), ``property f`` (the test f on random instances), ``vector`` and ``without`` (a vector, a
dropped condition, by the beginning of the name), ``example`` (a counterexample to the printed form), ``text`` and
``remark`` (words of the statement and of its remarks: said, and not proved unless something else stands beside it).
"""

from __future__ import annotations

__all__ = ["CLAUSES"]

CLAUSES = r"""
CL-1
(i) the equation of the rescaled tokens | claim 1, property eigenvectors
(ii) extremes for eigenvalues from 0 on, and below | claim 2, claim 3, claim 4, without $\lambda
(iii) nested hulls | claim 5
(iv) the map, any step | PH-X2a claim 2, PH-X2a claim 3, PH-X2a property one_step
(v) several heads | property several_heads, remark one common left eigenvector
CL-2
limits in {a, 0, b} | claim 1, property late_coordinates, text at most three parallel hyperplanes
the bound 3 is attained | without two instead of three
the map | remark the map
the right eigenvector decides | vector phi^T P phi and u^T P u, vector coordinates at t = 1
rank is not the number of hyperplanes | vector one hyperplane
a score of 0; a larger modulus; a negative leader | without Relation(ScoreAt, without NonPrincipal
a score of 0; a larger modulus; a negative leader: more | without Relation(Eigenvalue
d = 1, P < 0: one value | property scalar_tokens_meet, remark tend to one value
scaling and change of basis | property same_triple
CL-3
rows tend to unit rows but one | text all but at most one, property late_rows, claim 2
order and gaps | claim 1, property order_and_gaps
averages rise with the query | claim 3
rank 3 is attained | example tokens -1, vector tokens -1
the exceptional row | vector the exceptional row, text a full positive row
distinctness; P < 0; d >= 2 | without distinct, without PositiveDefinite, without Relation(Eq(d
CL-4
other values | without IsIdentity
(a) nested hulls for every P | claim 1, property nested
(b) limits maximise | remark (b) If all, property mass_on_the_best
(c) finitely many points on the boundary | remark (c) For, property faces
(d) cited | remark (d) That every
vertices is false | example the middle of an edge, vector the middle of an edge
P = -cI | property negative_scores_meet, remark tend to one point
CL-5
the recorded remainder is false | example two stationary tokens, vector remainders
projecting first | claim 1, claim 2, property projected_first
the theorem is cited | remark is cited
CL-6
collapse to the origin | claim 1, property energy_falls
among symmetric P only these | remark no other
algebraic rates | remark no exponential rate, vector d = 1, vector the mean
dropped conditions | without Symmetric, without PositiveDefinite, without IsIdentity
CL-7
other values | without IsIdentity
rates of SA and USA | claim 1, claim 2, property ascent, remark unnormalised
maximum at consensus | claim 3
same inertia | remark the same inertia
CL-8
heights rise, hulls shrink at a rate | claim 1, claim 2, claim 3, property contraction
n <= d | remark independent tokens
dropped conditions | without BoundedInTime, without InHemisphere, without IsIdentity
CL-9
equiangular for ever | claim 1, property scalar_equation
the two equations | claim 2, CL-9a claim 1, text unnormalised
rho rises; two tokens | CL-9a claim 2, property two_tokens
rates near consensus, the simplex | remark the simplex, property scalar_equation
times in closed form | vector times to rho
CL-10
other values | without IsIdentity
the averaged second variation | text averaged over unit, property average
d = 3 from -1/2 on; d >= 4 above -beta_d | claim 1, text beta_d, vector beta_4
any weights on a connected graph, any interaction | remark a connected graph
dropped conditions | without Relation(d >= 3), without Relation(Eigenvalue, without a connected, without almost every
CL-11
modes against differences | property second_derivative, property against_differences
the pentagon for k = 20, and for k = 10 | claim 1, claim 2, example softplus, vector modes
the square | claim 3
ranges that are cited | remark Cited from abstracts
CL-12
other values | without IsIdentity
almost every start tends to the first token | claim 2, claim 1
later tokens do not matter | property later_tokens_do_not_matter
the bad start | vector bad third angle
d >= 2; P bounded | without Relation(d >= 2), without BoundedInTime
CL-13
false as recorded | example two tokens, vector eigenvalues
equilibria and their spectrum | claim 1, claim 2, property classified, text linearly stable iff
what survives for two tokens | remark no such state, property opposite_scores, CL-13a property no_stable_state_off_the_axis
a multiple leader | CL-13b property multiple_leader
CL-14
other values | without IsIdentity
the displacement | claim 1, property slow_at_the_start, vector displacement, text as long as
ordinary centres | without far from all, vector an ordinary centre
the expected number | property counted, vector expected numbers
CL-15
(a) confinement | claim 1, property confined, vector eta and T, remark the largest angle to the own centre
(b) clusters collapse | property confined, remark inside cluster
the slow manifold at t = 0 | example a parabola
V != I | without IsIdentity
CL-16
(a) leaders are permanent, nested hulls | claim 1, claim 2, property leaders_stay
(b) the largest token leads, not if M is not symmetric | claim 3, without Symmetric, vector self scores
(b) some token leads: two, not three | property one_of_two_leads, without two tokens
(c) the rate of Frank and Wolfe | claim 4, property frank_wolfe_steps, example tokens 3 and -1, remark as long as
(d) the argument on null sets | remark midpoint
(e) a diagonal gain | without one gain
BD-S1
both bounds on the norm | claim 1, property jacobian_of_softmax, remark lower bound|e_i, without the factor 2
BD-S2
total variation | claim 1, property two_softmaxes, vector TV-S2, without osc/4
BD-S3
least and largest weight, half of it | claim 1, claim 2, claim 3, property weights_of_a_row, without e^w
BD-J1
blocks, masks, biases, rotary | claim 1, property blocks_by_differences, property rotary_blocks, vector TV-J
BD-J2
B_2 and B_1 | claim 1, claim 2, claim 3, property local_bounds, vector TV-J, without the column sum
BD-J3
B_3 | claim 1, claim 2, property local_bounds, vector TV-J
BD-L1
two forms on a ball, with biases | claim 1, claim 2, property ball_bound, remark query bias
two forms on a ball, with biases: more | without 16/27, without the query bias
BD-K1
two states that part | claim 1, claim 2
no global constant | claim 3, property not_lipschitz, vector t = 10
BD-N1
radius of RMSNorm and LayerNorm | claim 1, claim 2, property image_of_a_norm, vector TV-N1, without max|g|
BD-N2
derivatives | claim 1, claim 2, claim 3, property derivative_of_a_norm
BD-N3
the identity, and behind a norm | claim 1, claim 2, property directions, remark Behind RMSNorm, vector TV-N3
BD-D1
diameter, not Frobenius | claim 1, property one_head_no_skip, example CX-D1, without the diameter
BD-D2
(a), (b), (c), several heads, subsets, any skip | claim 1, claim 2, BD-D2b claim 1
(a), (b), (c), several heads, subsets, any skip: more | property layer_with_skip, remark Several heads
BD-D3
any weights | claim 1, property layer_with_skip, remark cannot collapse, without the largest
BD-R1
two tokens | property two_tokens_of_a_head
the cubic bound, heads, equality | claim 1, BD-R1b claim 1, BD-R1b claim 2, property several_heads
the cubic bound, heads, equality: more | without no mask, without the factor, without the norm
BD-R2
the basin of rank collapse | claim 1, claim 2, claim 3, claim 4, claim 5, property recursion, example CX-R2
BD-R3
lower part always, upper part with x_0 | claim 1, property ratio_of_rows, example one key, vector the root, remark upper part
BD-R4
with a skip | claim 1, claim 2, property several_heads, without no mask
BD-M1
attention sinks | claim 1, claim 2, property sinks
BD-M2
masks with a root | claim 1, claim 2, property windows, without self-loops, remark by induction
BD-P1
one equation, five placements | claim 1, claim 2, property equiangular_speed, vector TV-P, text LN-scaling
BD-P2
exponential from both sides | claim 1, claim 2, property post_between, without beta, without rho_0
BD-P3
raw distances never shrink; any tokens | claim 1, claim 2, claim 3, property equiangular_speed
raw distances never shrink; any tokens: more | property general_distances, without raw, without beta
BD-P4
not an exponential | without $t^
one curve, constants, nGPT and LN-scaling | claim 1, claim 2, property same_curve, property rates_near_consensus
one curve, constants, nGPT and LN-scaling: more | vector C_post, without one exponent
BD-P5
closed forms | claim 1, property closed_forms, vector n = 5
BD-P6
first speeds | claim 1, property initial_speeds, vector n = 8
BD-P7
near consensus, any V | claim 1, claim 2, property near_consensus, vector V = diag
BD-T1
the cosine behind one layer | claim 1, property one_layer, vector TV-T
BD-T2
the cosine in exact terms | claim 1
the threshold, and at rho = 0 | claim 2, claim 3, claim 4, claim 5, claim 6, claim 7, property thresholds, example orthogonal
BD-T3
diffuse heads | claim 1, claim 2, property weights_of_a_row
BD-E1
a leader with a margin | claim 1, claim 2, claim 3, claim 4, property leader_with_margin, without kappa
a leader with a margin: more | without 2 kappa, without real part, without the top, vector TV-E1
BD-E2
stable below a step | claim 1, property leader_with_margin, without mu_-, without the step
BD-H1
(a) to (d), any attention | claim 1, claim 2, text for all times|heights stay positive, property half_space
(a) to (d), any attention: more | vector TV-H1a, vector TV-H1b
dropped conditions; several heads | without modulus, without one side, without lambda, remark Several heads
BD-H2
one direction | claim 1, property one_direction, remark Several heads
PM-X5
the reduction, and mixed scores | property on_the_antipodal_set, without no mixed
K2 | claim 1, claim 2, claim 3, claim 4, claim 5, property left_sides, property kept_pairs, PM-L15 vector omega = 0
PM-X6
K3a | claim 1, claim 2, claim 3, property boundary_coefficient, CT-14 claim 1, CT-14 without v_1^T
PM-X7
K3b | claim 1, claim 2, property neutral_coefficient, CT-15 claim 1, CT-15 without m
PH-X3
dropped conditions | without IsZero, without PositiveDefinite
K8 | claim 1, claim 2, property both_rates, remark skewness, vector W = 1, without a widest
CT-9
N1a cross-ratios | claim 1, claim 2, property conserved
CT-9a
N1c, N1d | claim 1, without AnyOf, without Relation(Eigenvalue, vector n = d = 2
PM-T2+
dropped conditions | without Symmetric, without Relation(Eigenvalue
N2 | claim 1, property distances, without Relation(alpha, without AnyOf
PM-X3
N2b length | claim 1, property grows, vector alpha, without Symmetric
N2b 2-cycles | property flipping_family, remark multipliers of two steps, vector a 2-cycle
PM-X1
dropped conditions | without Symmetric, without Relation(Eigenvalue, without InHemisphere
N3a | claim 1, claim 2, property contracts, remark 2^{1-n}, CT-12 claim 2, without NonPrincipal
PM-X2
dropped conditions | without Symmetric
N3b, N3c | claim 1, property inside_the_ball, text cannot be improved, CT-13 claim 1, vector eta*
PM-X4
dropped conditions | without MultipleOf, without Relation(Trace
N4 | claim 1, property map_climbs, CT-10 claim 1, CT-10 property flow_climbs
N4: more | text Without the sign, without PositiveSemidefinite
PH-X1
velocities on rings of two and more; the signs | claim 1, claim 2, claim 3, claim 4, claim 5, claim 6, claim 7
N5 | property on_a_ring, property large_rings, text equiv 1, vector r_*
AB-X5
N6 | claim 1, property positive_somewhere, vector largest eigenvalues
AB-X6
scores break it | without Relation(Eq
N7 | claim 1, claim 2, property uniform, example two tokens, remark sigma_i
PH-X2
N8 | claim 1, claim 2, property grows_and_aligns, PH-X2a claim 4, without $H_l
CT-11
N9a | claim 1, claim 2, claim 3, claim 4, property conformal, property multipliers, remark multipliers
corrections
K1 PM-L5 | PM-L5 claim 4, PM-L5 without alpha |lambda_d| <= 2, PM-L5 vector p = q, a long step
K1 PM-L6 | PM-L6 claim 6, PM-L6 without alpha |nu_min| < 2, PM-L6 vector tilted
K2 PM-L15 | PM-L15 vector omega = 0: multipliers, PM-L15 vector omega = 0: angle, PM-X5 claim 1
K4 PM-N6 | PM-N6 without alpha |V| < 1, PM-N6 vector V = diag(1, -3)
K5 PM-S1 | PM-S1 claim 4, PM-S1 property steering, PM-S1 vector z orthogonal, PM-S1 vector F = (1 1/2
K6 PM-S2 | PM-S2 claim 5, PM-S2 property shifted_spectrum, PM-S2 without z^T F, PM-S2 vector right condition
K7 PM-S3 | PM-S3 without |w| = 1, PM-S3 vector a short w, PM-S3 property steered_layer
K9 PH-T7 | PH-T7 without |c| > 1, PH-T7 vector r(3), PH-T7 vector its asymptote
K10, K11 AB-X1 | AB-X1 claim 7, AB-X1 without BoundedInTime
K12 AB-T6.1 | AB-T6.1 claim 3
K13 PH-T1 | PH-T1 claim 5
K14 AB-T5.1 | AB-T5.1 claim 3, AB-T5.1 without Relation(d >= 2), AB-T5.1 vector bad third
K15 PH-T4 | PH-T4 without $\lambda, PH-T4 vector lambda = -1
"""
