//! The limits on senders and signers.

use governor::clock::DefaultClock;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use wats_config::Limits;
use wats_event::Hex32;

/// How many sources or keys a limiter remembers before it forgets all that have been quiet.
const REMEMBERED: usize = 1 << 16;

/// A limit on each of many.
#[derive(Debug)]
pub struct Limiter<K: Hash + Eq + Clone>(Option<Keyed<K>>);

type Keyed<K> = RateLimiter<K, HashMapStateStore<K>, DefaultClock>;

impl<K: Hash + Eq + Clone> Limiter<K> {
    /// So many a second and so many at once; without limit when one of them is 0.
    pub fn new(per_second: u32, burst: u32) -> Limiter<K> {
        let quota = NonZeroU32::new(per_second).zip(NonZeroU32::new(burst));
        let keyed = quota.map(|(rate, burst)| Quota::per_second(rate).allow_burst(burst));
        Limiter(keyed.map(RateLimiter::hashmap))
    }

    /// Whether this one may have one more.
    pub fn allows(&self, who: &K) -> bool {
        let Some(keyed) = &self.0 else {
            return true;
        };
        if keyed.len() > REMEMBERED {
            keyed.retain_recent();
        }
        keyed.check_key(who).is_ok()
    }
}

/// Who sends: an address, or in IPv6 a network of the size that one household gets.
pub fn source(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => v4.into(),
            None => {
                let mut octets = v6.octets();
                octets[8..].fill(0);
                octets.into()
            }
        },
    }
}

/// The limits on who sends, and who signs.
#[derive(Debug)]
pub struct Rates {
    /// On addresses.
    pub sources: Limiter<IpAddr>,
    /// On keys without weight.
    pub keys: Limiter<Hex32>,
    /// On keys with weight.
    pub weighty: Limiter<Hex32>,
    /// Who sent signatures that are not valid.
    pub forgers: Forgers,
}

/// Sources that sent an event under a key whose signature it does not bear: for a while they have no
/// share in the room that is kept for keys with weight, whose names anybody can write.
#[derive(Debug, Default)]
pub struct Forgers(Mutex<HashMap<IpAddr, Instant>>);

/// How long a forger is remembered.
const GRUDGE: Duration = Duration::from_secs(60);

impl Forgers {
    /// Whether a source forged something lately.
    pub fn has(&self, source: &IpAddr) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(source).is_some_and(|at| at.elapsed() < GRUDGE)
    }

    /// Remembers one.
    pub fn add(&self, source: IpAddr) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED {
            all.retain(|_, at| at.elapsed() < GRUDGE);
        }
        if all.len() < REMEMBERED {
            all.insert(source, Instant::now());
        }
    }
}

impl Rates {
    /// As the limits say.
    pub fn new(limits: &Limits) -> Rates {
        Rates {
            sources: Limiter::new(limits.source_per_second, limits.source_burst),
            keys: Limiter::new(limits.key_per_second, limits.key_burst),
            weighty: Limiter::new(
                limits.key_per_second.saturating_mul(10),
                limits.key_burst.saturating_mul(10),
            ),
            forgers: Forgers::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limiter_stops_one_and_lets_others_pass() {
        let limiter = Limiter::new(1, 3);
        assert_eq!([(); 4].map(|()| limiter.allows(&'a')), [true, true, true, false]);
        assert!(limiter.allows(&'b'));
        assert!((0..100).all(|_| Limiter::new(0, 3).allows(&'a')));
    }

    #[test]
    fn one_household_is_one_source() {
        let a: IpAddr = "2001:db8:1:2::1".parse().unwrap();
        let b: IpAddr = "2001:db8:1:2:ffff::9".parse().unwrap();
        let c: IpAddr = "2001:db8:1:3::1".parse().unwrap();
        assert_eq!(source(a), source(b));
        assert_ne!(source(a), source(c));
        assert_eq!(source("::ffff:10.0.0.1".parse().unwrap()), "10.0.0.1".parse::<IpAddr>().unwrap());
    }
}
