//! The specification of wats as one batch computation.
