"""What makes InfiniBand and GPUs visible in Prometheus and Grafana: exporter, monitors, alerts and dashboard.

The documents are made here; Prometheus and Grafana are somebody else's, and nothing here installs them.
"""

from aks_infiniband.observability.component import Observability as Observability
from aks_infiniband.observability.component import ObservabilityArgs as ObservabilityArgs
