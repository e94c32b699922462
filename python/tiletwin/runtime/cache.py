"""Files kept between processes, under the names of `triton.runtime.cache`."""

from tiletwin.file_cache import (
    CacheManager,
    FileCacheManager,
    RedisRemoteCacheBackend,
    RemoteCacheBackend,
    RemoteCacheManager,
    default_cache_dir,
    default_dump_dir,
    default_override_dir,
    get_cache_key,
    get_cache_manager,
    get_dump_manager,
    get_override_manager,
    make_so_cache_key,
    triton_key,
)

__all__ = [
    "CacheManager",
    "FileCacheManager",
    "RedisRemoteCacheBackend",
    "RemoteCacheBackend",
    "RemoteCacheManager",
    "default_cache_dir",
    "default_dump_dir",
    "default_override_dir",
    "get_cache_key",
    "get_cache_manager",
    "get_dump_manager",
    "get_override_manager",
    "make_so_cache_key",
    "triton_key",
]
