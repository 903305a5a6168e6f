"""The filter by which NCCL chooses HCAs: it must choose exactly the InfiniBand devices."""

from typing import Any

import pytest
from aks_infiniband.validation.payload.look.hcas import selects


@pytest.mark.parametrize(
    ("hca_filter", "device", "chosen"),
    [
        ("mlx5_ib", "mlx5_ib0", True),
        ("mlx5_ib", "mlx5_an0", False),
        ("mlx5_1", "mlx5_10", True),
        ("=mlx5_1", "mlx5_10", False),
        ("=mlx5_1:1", "mlx5_1", True),
        ("^mlx5_an", "mlx5_an0", False),
        ("^mlx5_an", "mlx5_0", True),
        ("^=mlx5_1", "mlx5_10", True),
        ("", "anything", True),
    ],
)
def test_the_filter_is_read_as_nccl_reads_it(hca_filter: Any, device: Any, chosen: Any) -> None:
    assert selects(hca_filter, device) is chosen
