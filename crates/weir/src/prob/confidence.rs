//! Confidence intervals.

use dashu_ratio::RBig;

use super::probability::Interval;

/// The interval of Clopper and Pearson for a probability, after `hits` in `runs`: it misses the true one in at most
/// `doubt` of all cases, whatever that is. Runs that were not decided may go either way.
pub(super) fn for_probability(hits: u64, undecided: u64, runs: u64, doubt: f64) -> Interval {
    if runs == 0 {
        return Interval { lower: 0.0, upper: 1.0 };
    }
    let (most, runs) = ((hits + undecided) as f64, runs as f64);
    let (hits, tail) = (hits as f64, doubt / 2.0);
    let lower = if hits == 0.0 { 0.0 } else { quantile(tail, hits, runs - hits + 1.0) };
    let upper = if most >= runs { 1.0 } else { quantile(1.0 - tail, most + 1.0, runs - most) };
    Interval { lower, upper }
}

/// Sums over samples that are whole numbers, so that their order does not matter and nothing is lost.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    pub(super) count: u64,
    /// None if it became too large.
    pub(super) sum: Option<u128>,
    /// The same for squares.
    pub(super) squares: Option<u128>,
}

impl Default for Sums {
    fn default() -> Self {
        Self { count: 0, sum: Some(0), squares: Some(0) }
    }
}

impl Sums {
    pub(super) fn add(&mut self, sample: u128) {
        self.count += 1;
        self.sum = self.sum.and_then(|sum| sum.checked_add(sample));
        self.squares = self.squares.and_then(|squares| squares.checked_add(sample.checked_mul(sample)?));
    }
}

/// The mean and its interval by the central limit theorem: right for large numbers of samples.
pub(super) fn for_mean(sums: &Sums, doubt: f64) -> Option<(f64, Interval)> {
    let (count, sum) = (RBig::from(sums.count), RBig::from(sums.sum?));
    if count == RBig::ZERO {
        return None;
    }
    let mean = &sum / &count;
    let variance = match sums.squares {
        // The difference of large numbers: in fractions, nothing cancels out.
        Some(squares) if sums.count > 1 => {
            ((RBig::from(squares) - &sum * &mean) / (&count - RBig::ONE)).to_f64().value()
        }
        _ => f64::INFINITY,
    };
    let mean = mean.to_f64().value();
    let margin = normal_quantile(1.0 - doubt / 2.0) * (variance / sums.count as f64).sqrt();
    Some((mean, Interval { lower: (mean - margin).max(0.0), upper: mean + margin }))
}

/// The x at which the regularized incomplete beta function is `p`.
fn quantile(p: f64, a: f64, b: f64) -> f64 {
    bisect(|x| beta(x, a, b) < p, 0.0, 1.0)
}

/// The x below which a normally distributed value lies with probability `p`.
fn normal_quantile(p: f64) -> f64 {
    bisect(|x| 1.0 - upper_normal(x) < p, -40.0, 40.0)
}

/// How likely a normally distributed value is above x: by the series of the error function near 0, by its continued
/// fraction elsewhere.
fn upper_normal(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let half = if z < 2.0 {
        let (mut term, mut sum) = (z, z);
        for n in 1..100 {
            term *= -z * z / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        0.5 - sum / std::f64::consts::PI.sqrt()
    } else {
        let tail = (1..100).rev().fold(z, |tail, n| z + f64::from(n) / 2.0 / tail);
        0.5 * (-z * z).exp() / (tail * std::f64::consts::PI.sqrt())
    };
    if x >= 0.0 { half } else { 1.0 - half }
}

fn bisect(is_below: impl Fn(f64) -> bool, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The regularized incomplete beta function, by its continued fraction (Lentz's method).
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges quickly on one side; the other is its mirror image.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_fraction(1.0 - x, b, a);
    }
    beta_fraction(x, a, b)
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let front = (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let kept = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / kept(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..2_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / kept(1.0 + numerator * d);
            c = kept(1.0 + numerator / c);
            change = d * c;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// The logarithm of the gamma function, by Stirling's series after moving up.
fn log_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 15.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        let near = |left: f64, right: f64| (left - right).abs() < 1e-4;
        let five_of_ten = for_probability(5, 0, 10, 0.05);
        assert!(near(five_of_ten.lower, 0.1871) && near(five_of_ten.upper, 0.8129), "{five_of_ten:?}");
        let none = for_probability(0, 0, 100, 0.05);
        assert!(none.lower == 0.0 && near(none.upper, 0.0362), "{none:?}");
        let many = for_probability(50_000, 0, 100_000, 0.001);
        assert!(near(many.lower, 0.494_8) && near(many.upper, 0.505_2), "{many:?}");
        assert!(near(normal_quantile(0.975), 1.959_96) && near(normal_quantile(0.9995), 3.290_53));
    }

    /// How likely at least so many hits are, added up term by term.
    fn at_least(hits: u64, runs: u64, p: f64) -> f64 {
        let log_factorial = |n: u64| (1..=n).map(|factor| (factor as f64).ln()).sum::<f64>();
        let ways = |number: u64| log_factorial(runs) - log_factorial(number) - log_factorial(runs - number);
        let term = |number: u64| ways(number) + number as f64 * p.ln() + (runs - number) as f64 * (1.0 - p).ln();
        (hits..=runs).map(|number| term(number).exp()).sum()
    }

    #[test]
    fn intervals_are_those_of_the_definition() {
        for (hits, runs) in [(1, 1), (0, 1), (1, 2), (1, 10), (3, 10), (9, 10), (10, 10), (17, 60), (59, 60), (70, 200)]
        {
            for doubt in [0.05, 0.001, 1e-6] {
                let found = for_probability(hits, 0, runs, doubt);
                let context = format!("{hits} of {runs}, {doubt}: {found:?}");
                let near = |left: f64| (left - doubt / 2.0).abs() < 1e-9;
                assert!(
                    if hits == 0 { found.lower == 0.0 } else { near(at_least(hits, runs, found.lower)) },
                    "{context}"
                );
                // An upper bound on hits is a lower bound on misses.
                let most = at_least(runs - hits, runs, 1.0 - found.upper);
                assert!(if hits == runs { found.upper == 1.0 } else { near(most) }, "{context}");
            }
        }
        assert_eq!(for_probability(0, 0, 0, 0.05), Interval { lower: 0.0, upper: 1.0 });
        assert_eq!(for_probability(0, 4, 4, 0.05), Interval { lower: 0.0, upper: 1.0 });
    }

    #[test]
    fn quantiles_of_the_normal_distribution_are_those_of_the_tables() {
        for (p, x) in [
            (0.5, 0.0),
            (0.841_344_746_068_543, 1.0),
            (0.975, 1.959_963_984_540_054),
            (0.995, 2.575_829_303_548_901),
            (0.999_5, 3.290_526_731_491_926),
            (0.999_999_5, 4.891_638_475_699),
            (0.025, -1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_813),
        ] {
            assert!((normal_quantile(p) - x).abs() < 1e-7, "{p} {x} {}", normal_quantile(p));
        }
    }

    #[test]
    fn the_gamma_function_is_a_factorial() {
        let mut logarithm = 0.0_f64;
        for n in 1..60 {
            assert!((log_gamma(f64::from(n)) - logarithm).abs() < 1e-10 * logarithm.max(1.0), "{n}");
            logarithm += f64::from(n).ln();
        }
        assert!((log_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-12);
    }

    #[test]
    fn means_have_the_spread_of_their_samples() {
        let mean = |samples: &[u128]| {
            let mut sums = Sums::default();
            samples.iter().for_each(|&sample| sums.add(sample));
            for_mean(&sums, 0.05)
        };
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[3]), Some((3.0, Interval { lower: 0.0, upper: f64::INFINITY })));
        assert_eq!(mean(&[5, 5, 5]), Some((5.0, Interval { lower: 5.0, upper: 5.0 })));
        // The variance of 2, 4, 9 is 13, and that of their mean a third of it.
        let (mean, interval) = mean(&[12, 14, 19]).expect("there are samples");
        let margin = 1.959_963_984_540_054 * (13.0_f64 / 3.0).sqrt();
        assert_eq!(mean, 15.0);
        assert!((interval.lower - (15.0 - margin)).abs() < 1e-6 && (interval.upper - (15.0 + margin)).abs() < 1e-6);
    }

    #[test]
    fn large_samples_that_differ_little_keep_their_spread() {
        let mut sums = Sums::default();
        (0..1_000).for_each(|sample| sums.add(3_000_000_000_000 + sample % 2));
        let (mean, interval) = for_mean(&sums, 0.001).expect("there are samples");
        assert!((mean - 3_000_000_000_000.5).abs() < 1e-3, "{mean}");
        assert!((interval.upper - interval.lower - 0.104).abs() < 2e-3, "{interval:?}");
        sums.add(u128::MAX);
        assert!(for_mean(&sums, 0.001).is_none(), "the sum is too large");
    }

    #[test]
    fn undecided_runs_widen_the_interval() {
        let open = for_probability(2, 3, 10, 0.05);
        assert!(open.lower == for_probability(2, 0, 10, 0.05).lower);
        assert!(open.upper == for_probability(5, 0, 10, 0.05).upper);
    }
}
