from .component import Observability as Observability
from .component import ObservabilityArgs as ObservabilityArgs
