"""The filter by which NCCL chooses HCAs: it must choose exactly the InfiniBand devices."""

from aks_infiniband.validation.payload.look.hcas import selects


def test_the_filter_is_read_as_nccl_reads_it() -> None:
    for hca_filter, device, chosen in [
        ("mlx5_ib", "mlx5_ib0", True),
        ("mlx5_ib", "mlx5_an0", False),
        ("mlx5_1", "mlx5_10", True),
        ("=mlx5_1", "mlx5_10", False),
        ("=mlx5_1:1", "mlx5_1", True),
        ("^mlx5_an", "mlx5_an0", False),
        ("^mlx5_an", "mlx5_0", True),
        ("^=mlx5_1", "mlx5_10", True),
        ("", "anything", True),
    ]:
        assert selects(hca_filter, device) is chosen
