"""Calling the webhooks that objects of the API name: admission, conversion."""

from muntin.apiserver.webhooks.client import WebhookClient
from muntin.apiserver.webhooks.failures import WebhookFailed

__all__ = ["WebhookClient", "WebhookFailed"]
