"""HTTP/1.1 on asyncio and httptools: a server and a client that know nothing of Kubernetes."""
