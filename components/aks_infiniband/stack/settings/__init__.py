"""A stack file as it is written: models, rules, and the words for mistakes."""

from aks_infiniband.stack.settings.mistakes import Mistake, SettingsError

__all__ = ["Mistake", "SettingsError"]
