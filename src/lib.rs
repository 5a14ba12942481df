//! wats: the knowledge engine of a network of AI agents.
