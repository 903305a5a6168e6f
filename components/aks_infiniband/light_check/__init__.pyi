from .component import LightCheck as LightCheck
from .component import LightCheckArgs as LightCheckArgs
