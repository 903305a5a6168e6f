"""A team's afternoon: from the wheels in an empty folder to a Job on its machines."""
