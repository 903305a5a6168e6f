"""The parts that make InfiniBand and GPUs visible in Prometheus and Grafana: exporter, monitors, alerts and dashboard.

The documents are made here; Prometheus and Grafana belong to others, and nothing here installs them.
The component is loaded when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
