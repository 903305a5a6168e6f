"""The plots of a pool can be read whole, however small the pool is."""

import pytest
from aks_infiniband_cli.report.plots import heat_map
from matplotlib.backends.backend_agg import FigureCanvasAgg


@pytest.mark.parametrize("rails", [1, 8])
@pytest.mark.parametrize("node", ["n0", "aks-ndh100v5-33735988-vmss000000"])
def test_the_title_of_a_heat_map_is_inside_the_picture(rails: int, node: str) -> None:
    title = "hbv4: rdma-write-bandwidth of each HCA, as a client of its neighbour"
    rows = [{"node": node, "device": f"mlx5_{rail}", "value": 393.1} for rail in range(rails)]
    figure = heat_map(rows, None, title)
    assert figure is not None
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    [shown] = figure.texts
    extent, whole = shown.get_window_extent(), figure.bbox
    assert (shown.get_text(), whole.x0 <= extent.x0, extent.x1 <= whole.x1) == (title, True, True)
