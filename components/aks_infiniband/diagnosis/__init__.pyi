from .azure import azure_operation as azure_operation
from .error_hook import Waiting as Waiting
from .error_hook import job_results as job_results
from .error_hook import on_error as on_error
from .view import WaitingFor as WaitingFor
