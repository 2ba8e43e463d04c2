C:\k\kubelet.exe --kubeconfig=C:\k\config --system-reserved=memory=2Gi,cpu=500m
