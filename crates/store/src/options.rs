//! How RocksDB is set up: what it keeps in memory, how it finds names, what it writes.

use super::{Family, Sizes};
use rocksdb::{BlockBasedIndexType, BlockBasedOptions, Cache, DBCompressionType, Options};

/// Of the database.
pub(super) fn options(sizes: Sizes) -> Options {
    let mut options = Options::default();
    options.create_missing_column_families(true);
    options.set_paranoid_checks(true);
    options.set_db_write_buffer_size(sizes.writes);
    options.set_max_total_wal_size(4 * sizes.writes as u64);
    options.set_max_open_files(512);
    options.set_max_background_jobs(2);
    options.set_keep_log_file_num(4);
    options.set_max_log_file_size(4 << 20);
    options
}

/// Of a family: all share one cache.
pub(super) fn family_options(family: Family, cache: &Cache, sizes: Sizes) -> Options {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
    if family != Family::Sequence {
        blocks.set_bloom_filter(10.0, false);
        // In parts: the filter of a million names is one block of more than a megabyte, which does
        // not fit into a shard of the cache, and would be read anew for each name.
        blocks.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
        blocks.set_partition_filters(true);
        blocks.set_pin_top_level_index_and_filter(true);
    }
    let mut options = Options::default();
    options.set_block_based_table_factory(&blocks);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_write_buffer_size(sizes.writes / 4);
    if family == Family::Order {
        // A pass takes from the front: what it left there is not to be passed over for ever.
        options.add_compact_on_deletion_collector_factory(4096, 1024, 0.5);
    }
    options
}
