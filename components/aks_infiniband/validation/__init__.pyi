from .access import ValidationAccess as ValidationAccess
from .access import ValidationAccessArgs as ValidationAccessArgs
from .component import Validation as Validation
from .component import ValidationArgs as ValidationArgs
from .options import ValidationOptions as ValidationOptions
