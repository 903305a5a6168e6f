"""The parts that make InfiniBand and GPUs visible in Prometheus and Grafana: exporter, monitors, alerts and dashboard.

The documents are made here; Prometheus and Grafana belong to others, and nothing here installs them.
"""

from aks_infiniband.observability.component import Observability as Observability
from aks_infiniband.observability.component import ObservabilityArgs as ObservabilityArgs
