"""Calls to the webhooks that users configure: conversion of custom objects, admission."""

from muntin.apiserver.webhooks.client import WebhookClient
from muntin.apiserver.webhooks.failures import WebhookFailed

__all__ = ["WebhookClient", "WebhookFailed"]
