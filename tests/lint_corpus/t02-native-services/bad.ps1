sc.exe create kubelet start= auto binPath= "C:\k\kubelet.exe --kubeconfig=C:\k\config --service" # here
