"""Exact probabilities of the processes that the proofs of the five papers bound.

All functions return natural logarithms, since many probabilities are far below what a double
holds. Plain doubles: nine digits of a probability are right, and more where it is not tiny.
"""
import cmath
import math


def stirling_error(k):
    """ln k! less its Stirling approximation."""
    if k < 16:
        return math.lgamma(k + 1) - (k + 0.5) * math.log(k) + k - 0.5 * math.log(2 * math.pi)
    square = k * k
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / k


def deviance(x, mean):
    """x ln(x / mean) + mean - x, without cancellation where both are close."""
    if abs(x - mean) >= 0.1 * (x + mean):
        return x * math.log(x / mean) + mean - x
    v = (x - mean) / (x + mean)
    total, term, j = (x - mean) * v, 2 * x * v, 1
    while True:
        term *= v * v
        more = total + term / (2 * j + 1)
        if more == total:
            return total
        total, j = more, j + 1


def log_binomial(k, trials, p):
    """ln P(X = k) of a binomial X, by Loader's saddle point expansion."""
    if k in (0, trials):
        return trials * (math.log1p(-p) if k == 0 else math.log(p))
    rest = trials - k
    return (stirling_error(trials) - stirling_error(k) - stirling_error(rest)
            - deviance(k, trials * p) - deviance(rest, trials * (1 - p))
            + 0.5 * math.log(trials / (2 * math.pi * k * rest)))


def log_complement(x):
    """ln(1 - e^x)."""
    return math.log(-math.expm1(x)) if x > -0.7 else math.log1p(-math.exp(x))


def at_least(k, trials, p):
    """ln P(X >= k) of a binomial X with this many trials of probability p."""
    k, trials = math.ceil(k), math.floor(trials)
    if k <= 0:
        return 0.0
    if k > trials:
        return -math.inf
    if k <= trials * p:
        return log_complement(at_most(k - 1, trials, p))
    total = term = 1.0
    j = k
    while term > 1e-17 * total and j < trials:
        term *= (trials - j) * p / ((j + 1) * (1 - p))
        total, j = total + term, j + 1
    return log_binomial(k, trials, p) + math.log(total)


def at_most(k, trials, p):
    """ln P(X <= k) of a binomial X with this many trials of probability p."""
    k, trials = math.floor(k), math.floor(trials)
    if k < 0:
        return -math.inf
    if k >= trials * p:
        return log_complement(at_least(k + 1, trials, p)) if k < trials else 0.0
    return at_least(trials - k, trials, 1 - p)


def harmonic(k):
    """1 + 1/2 + ... + 1/k."""
    if k < 1000:
        return math.fsum(1 / j for j in range(1, k + 1))
    return math.log(k) + 0.5772156649015329 + 1 / (2 * k) - 1 / (12 * k * k)


def epidemic(n, steps, among=None):
    """ln P(a one-way epidemic among m of n agents is not over after so many steps).

    With j of m infected, a step infects one more with probability p_j = j (m - j) / C(n, 2), which
    is also p_(m-j). So the generating function of the time has a double pole for each k < m/2 (and
    a simple one for k = m/2), and the tail is the sum of their residues in closed form. For about
    n ln n steps and more they fall fast, and few are needed; for far fewer they cancel.
    """
    m, steps = among or n, math.floor(steps)
    scale, terms = 2 / (n * (n - 1)), []
    for k in range(1, m // 2 + 1):
        p, gap = k * (m - k) * scale, m - 2 * k
        log_weight = 2 * (math.lgamma(m) - math.lgamma(k + 1) - math.lgamma(m - k + 1))
        if gap:
            slope = 1 / p - 1 - 2 * (1 - p) / (gap * scale) * (
                harmonic(m - k - 1) - harmonic(k - 1) - 1 / gap)
            factor = gap * gap * p / (1 - p) * (steps + slope)
        else:
            factor = k * (m - k)
        log_weight += steps * math.log1p(-p)
        terms.append((log_weight, factor))
        if factor * math.exp(log_weight - terms[0][0]) < 1e-15 * terms[0][1]:
            break
    total = math.fsum(factor * math.exp(weight - terms[0][0]) for weight, factor in terms)
    if total < 1e-6 * max(abs(factor) * math.exp(weight - terms[0][0]) for weight, factor in terms):
        raise ValueError("too few steps for the expansion")
    return terms[0][0] + math.log(total)


def untouched(n, steps):
    """ln P(some of n agents has not interacted within so many steps): inclusion and exclusion."""
    total, choose = 0.0, 1.0
    for j in range(1, n):
        choose *= (n - j + 1) / j
        stay = (n - j) * (n - j - 1) / (n * (n - 1))
        term = choose * stay ** steps
        total += term if j % 2 else -term
        if term < 1e-17 * abs(total):
            break
    return math.log(total)


def log_round(n, z):
    """ln E z^R for the number R of steps until all of n agents have interacted, |z| > 1."""
    pairs, one, two = n * (n - 1) / 2, 1.0 + 0j, 0j
    shift = 0.0
    for s in range(1, n + 1):  # agents that have not interacted
        both, single = s * (s - 1) / 2, s * (n - s)
        value = z * (single * one + both * two) / (pairs - z * (pairs - both - single))
        one, two = value, one
        size = abs(one)
        if size > 1e100:
            one, two, shift = one / size, two / size, shift + math.log(size)
    return cmath.log(one) + shift


def rounds(n, count, steps):
    """ln P(so many rounds take at least so many steps), by Cauchy's formula on a circle.

    The circle has the radius at which the integrand is smallest on the real axis, so that nothing
    cancels; the trapezoidal rule is exact up to the tail beyond as many steps as it has points.
    """
    most = 1 / (1 - 2 / n)  # where the last agent's wait has its pole
    low, high = 1.0, most
    for _ in range(60):
        middle = (low + high) / 2
        width = 1e-7 * (most - 1)
        slope = (log_round(n, middle + width) - log_round(n, middle - width)).real / (2 * width)
        low, high = (middle, high) if count * slope * middle < steps else (low, middle)
    radius, points = low, 1 << 15
    height = count * log_round(n, radius).real - steps * math.log(radius)
    total = 0.0
    for j in range(points // 2 + 1):
        z = radius * cmath.exp(2j * math.pi * j / points)
        value = cmath.exp(count * log_round(n, z) - steps * cmath.log(z) - height) * z / (z - 1)
        total += value.real * (1 if j in (0, points // 2) else 2)
        if j > 100 and abs(value) < 1e-18 * total:
            break
    return height + math.log(total / points)
