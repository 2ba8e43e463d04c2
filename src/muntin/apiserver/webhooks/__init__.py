"""Calls to the webhooks that users configure: conversion of custom objects, admission."""
