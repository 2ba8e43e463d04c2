"""What webhooks and admission policies have in common, without I/O: rules, reviews, conditions."""
