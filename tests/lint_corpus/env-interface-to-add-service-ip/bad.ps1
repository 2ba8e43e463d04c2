# profile: v1.5
c:\k\kube-proxy.exe --proxy-mode=userspace --hostname-override=win01 --bind-address=10.0.0.11 # here
